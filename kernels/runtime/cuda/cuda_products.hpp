// SPDX-License-Identifier: Apache-2.0
// Products in bf16 and tf32 by cuBLASLt, each with an algorithm that was chosen once.
#pragma once

#include <cuda_runtime_api.h>

#include <memory>

#include "runtime/base/gemm.hpp"
#include "runtime/base/handle.hpp"
#include "runtime/cuda/cublaslt_library.hpp"

namespace holdfast {

class CudaProducts {
 public:
  explicit CudaProducts(cudaStream_t stream);

  // Throws Error{broken_rule} if the library has no algorithm.
  std::unique_ptr<GemmPlan> plan(const Gemm& problem, std::size_t work_area_bytes) const;
  void operator()(GemmPlan& plan, const Gemm& problem, const GemmOperands& operands,
                  void* work_area) const;

 private:
  // NOLINTNEXTLINE(bugprone-exception-escape): the library was loaded to make the handle
  static cublasStatus_t destroy(cublasLtHandle_t handle) noexcept {
    return cublaslt().destroy(handle);
  }
  cudaStream_t stream_;
  Handle<cublasLtHandle_t, destroy> handle_;
};

}  // namespace holdfast
