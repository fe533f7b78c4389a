// SPDX-License-Identifier: Apache-2.0
// One function per CUDA library: turns its status into Error. `doing` completes "failed to ...".
#pragma once

#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <cufft.h>
#include <nvJitLink.h>
#include <nvrtc.h>

#include <source_location>
#include <string_view>

namespace holdfast {

void check(cudaError_t status, std::string_view doing,
           std::source_location where = std::source_location::current());
void check(nvrtcResult status, std::string_view doing,
           std::source_location where = std::source_location::current());
void check(nvJitLinkResult status, std::string_view doing,
           std::source_location where = std::source_location::current());
void check(cublasStatus_t status, std::string_view doing,
           std::source_location where = std::source_location::current());
void check(cufftResult status, std::string_view doing,
           std::source_location where = std::source_location::current());

// Whether cuBLASLt, asked for an algorithm, knows none: then the device is as good as before.
inline bool lacks_algorithm(cublasStatus_t status, int found) {
  return status == CUBLAS_STATUS_NOT_SUPPORTED || (status == CUBLAS_STATUS_SUCCESS && found == 0);
}

}  // namespace holdfast
