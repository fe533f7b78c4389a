// SPDX-License-Identifier: Apache-2.0
#include "runtime/cuda/cuda_check.hpp"

#include "runtime/base/error.hpp"
#include "runtime/cuda/cublas_library.hpp"
#include "runtime/cuda/nvrtc_library.hpp"

namespace holdfast {
namespace {

[[noreturn]] void fail(Fault fault, std::string_view doing, std::string_view reason,
                       std::source_location where) {
  throw Error(fault, text("failed to ", doing, ": ", reason), where);
}

// A device that lacks memory is as good as before.
Fault fault_of(bool lacks_memory) {
  return lacks_memory ? Fault::out_of_memory : Fault::device;
}

}  // namespace

void check(cudaError_t status, std::string_view doing, std::source_location where) {
  if (status == cudaSuccess) return;
  (void)cudaGetLastError();  // leave no stale error for an unrelated later call to trip over
  fail(fault_of(status == cudaErrorMemoryAllocation), doing,
       text(cudaGetErrorName(status), " (", cudaGetErrorString(status), ")"), where);
}

void check(nvrtcResult status, std::string_view doing, std::source_location where) {
  if (status == NVRTC_SUCCESS) return;
  fail(Fault::compile, doing, nvrtc().error_string(status), where);
}

void check(nvJitLinkResult status, std::string_view doing, std::source_location where) {
  if (status == NVJITLINK_SUCCESS) return;
  fail(Fault::compile, doing, text("nvJitLink status ", static_cast<int>(status)), where);
}

void check(cublasStatus_t status, std::string_view doing, std::source_location where) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  fail(fault_of(status == CUBLAS_STATUS_ALLOC_FAILED), doing,
       text(cublas().status_name(status), " (", cublas().status_string(status), ")"), where);
}

void check(cufftResult status, std::string_view doing, std::source_location where) {
  if (status == CUFFT_SUCCESS) return;
  fail(fault_of(status == CUFFT_ALLOC_FAILED), doing,
       text("cuFFT status ", static_cast<int>(status)), where);
}

}  // namespace holdfast
