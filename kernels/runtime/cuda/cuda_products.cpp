// SPDX-License-Identifier: Apache-2.0
#include "runtime/cuda/cuda_products.hpp"

#include "runtime/base/error.hpp"
#include "runtime/cuda/cuda_check.hpp"

namespace holdfast {
namespace {

cublasLtHandle_t make_handle() {
  cublasLtHandle_t handle = nullptr;
  check(cublaslt().create(&handle), "start cuBLASLt");
  return handle;
}

template <auto function>
struct Destroyer {
  template <class Raw>
  // NOLINTNEXTLINE(bugprone-exception-escape): the library was loaded to make what is destroyed
  void operator()(Raw raw) const noexcept {
    (void)(cublaslt().*function)(raw);
  }
};
template <class Pointer, auto function>
using Owned = std::unique_ptr<std::remove_pointer_t<Pointer>, Destroyer<function>>;
using Product = Owned<cublasLtMatmulDesc_t, &CublasLtLibrary::destroy_product>;
using Layout = Owned<cublasLtMatrixLayout_t, &CublasLtLibrary::destroy_layout>;
using Preference = Owned<cublasLtMatmulPreference_t, &CublasLtLibrary::destroy_preference>;

cudaDataType_t type_of(Precision stored) {
  return stored == Precision::bf16 ? CUDA_R_16BF : CUDA_R_32F;
}

// The layout of a row-major [rows, columns] matrix: its transpose, as the library is column-major.
Layout make_layout(Precision stored, int rows, int columns, int pitch, int batch,
                   std::int64_t stride) {
  cublasLtMatrixLayout_t raw = nullptr;
  check(cublaslt().create_layout(&raw, type_of(stored), static_cast<std::uint64_t>(columns),
                                 static_cast<std::uint64_t>(rows), pitch),
        "describe a matrix");
  Layout layout(raw);
  check(cublaslt().set_layout(raw, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batch, sizeof batch),
        "describe a batch of matrices");
  check(cublaslt().set_layout(raw, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride,
                              sizeof stride),
        "describe the stride of a batch of matrices");
  return layout;
}

Product make_product(const Gemm& p) {
  cublasLtMatmulDesc_t raw = nullptr;
  check(
      cublaslt().create_product(
          &raw, p.precision == Precision::tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F,
          CUDA_R_32F),
      "describe a matrix product");
  Product product(raw);
  const auto transpose = [&](cublasLtMatmulDescAttributes_t which, bool yes) {
    const cublasOperation_t operation = yes ? CUBLAS_OP_T : CUBLAS_OP_N;
    check(cublaslt().set_product(raw, which, &operation, sizeof operation),
          "describe the operands of a matrix product");
  };
  // C^T = op(B)^T op(A)^T, so the operands are swapped.
  transpose(CUBLASLT_MATMUL_DESC_TRANSA, p.transpose_b);
  transpose(CUBLASLT_MATMUL_DESC_TRANSB, p.transpose_a);
  return product;
}

Preference make_preference(std::size_t work_area_bytes) {
  cublasLtMatmulPreference_t raw = nullptr;
  check(cublaslt().create_preference(&raw), "describe what a product may use");
  Preference preference(raw);
  const std::uint64_t bytes = work_area_bytes;
  check(cublaslt().set_preference(raw, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &bytes,
                                  sizeof bytes),
        "limit the work area of a product");
  // Views of larger arrays are aligned to eight bf16, not to 256 bytes.
  constexpr std::uint32_t alignment = 16;
  for (const auto which :
       {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES})
    check(cublaslt().set_preference(raw, which, &alignment, sizeof alignment),
          "tell how matrices are aligned");
  return preference;
}

class CudaPlan final : public GemmPlan {
 public:
  CudaPlan(const Gemm& p, cublasLtHandle_t handle, std::size_t work_area_bytes)
      : GemmPlan(p),
        product_(make_product(p)),
        a_(make_layout(p.precision, p.transpose_a ? p.k : p.m, p.transpose_a ? p.m : p.k, p.lda,
                       p.batch, p.stride_a)),
        b_(make_layout(p.precision, p.transpose_b ? p.n : p.k, p.transpose_b ? p.k : p.n, p.ldb,
                       p.batch, p.stride_b)),
        c_(make_layout(stored_result(p), p.m, p.n, p.ldc, p.batch, p.stride_c)),
        work_area_bytes_(work_area_bytes) {
    const Preference preference = make_preference(work_area_bytes);
    cublasLtMatmulHeuristicResult_t best = {};
    int found = 0;
    const auto status = cublaslt().choose(handle, product_.get(), b_.get(), a_.get(), c_.get(),
                                          c_.get(), preference.get(), 1, &best, &found);
    if (lacks_algorithm(status, found))
      throw Error(Fault::broken_rule, text("failed to plan ", shown(p),
                                           ": cuBLASLt has no algorithm; "
                                           "choose extents that are multiples of 8"));
    if (status != CUBLAS_STATUS_SUCCESS) check(status, text("plan ", shown(p)));
    algorithm_ = best.algo;
  }

  cublasStatus_t run(cublasLtHandle_t handle, const Gemm& p, const GemmOperands& on,
                     void* work_area, cudaStream_t stream) const {
    const float alpha = static_cast<float>(p.alpha), beta = static_cast<float>(p.beta);
    return cublaslt().multiply(handle, product_.get(), &alpha, on.b, b_.get(), on.a, a_.get(),
                               &beta, on.c, c_.get(), on.d, c_.get(), &algorithm_, work_area,
                               work_area_bytes_, stream);
  }

 private:
  Product product_;
  Layout a_, b_, c_;
  std::size_t work_area_bytes_;
  cublasLtMatmulAlgo_t algorithm_ = {};
};

}  // namespace

CudaProducts::CudaProducts(cudaStream_t stream) : stream_(stream), handle_(make_handle()) {}

std::unique_ptr<GemmPlan> CudaProducts::plan(const Gemm& problem,
                                             std::size_t work_area_bytes) const {
  return std::make_unique<CudaPlan>(problem, handle_.get(), work_area_bytes);
}

void CudaProducts::operator()(GemmPlan& plan, const Gemm& problem, const GemmOperands& operands,
                              void* work_area) const {
  const auto status =
      static_cast<CudaPlan&>(plan).run(handle_.get(), problem, operands, work_area, stream_);
  // This path is timed: the message is only composed on failure.
  if (status != CUBLAS_STATUS_SUCCESS) check(status, text("multiply ", shown(problem)));
}

}  // namespace holdfast
