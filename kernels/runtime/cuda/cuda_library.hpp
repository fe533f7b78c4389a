// SPDX-License-Identifier: Apache-2.0
// cuBLAS and cuFFT on one stream, with work areas allocated, and therefore counted, by the caller.
#pragma once

#include <cuda_runtime_api.h>

#include <memory>

#include "runtime/base/fourier.hpp"
#include "runtime/base/gemm.hpp"
#include "runtime/base/handle.hpp"
#include "runtime/cuda/cublas_library.hpp"

namespace holdfast {

class CudaBlas {
 public:
  explicit CudaBlas(cudaStream_t stream);
  void operator()(const Gemm& problem, const void* a, const void* b, void* c, void* work_area);

 private:
  // NOLINTNEXTLINE(bugprone-exception-escape): the library was loaded to make the handle
  static cublasStatus_t destroy(cublasHandle_t handle) noexcept { return cublas().destroy(handle); }
  Handle<cublasHandle_t, destroy> handle_;
  void* work_area_ = nullptr;  // the one set in cuBLAS
};

// Throws Error{broken_rule} if cuFFT needs more than problem.work_area_bytes().
std::unique_ptr<FftPlan> plan_fft_on_cuda(const Fft& problem, void* work_area, cudaStream_t stream);
void transform_on_cuda(FftPlan& plan, const void* in, void* out);

}  // namespace holdfast
