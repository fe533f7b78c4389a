// SPDX-License-Identifier: Apache-2.0
// A model's products in bf16, of dense rows.
#pragma once

#include "runtime/backend/blas.hpp"

namespace holdfast::gpt_train {

class Products {
 public:
  explicit Products(Backend& backend) : blas_(backend, planned_gemm_work_area_bytes) {}

  // d = a b + c; without c only a b.
  void operator()(std::int64_t m, int n, int k, const Bf16* a, const Bf16* b, Bf16* d,
                  const Bf16* c = nullptr) {
    blas_({.precision = Precision::bf16,
           .m = static_cast<int>(m),
           .n = n,
           .k = k,
           .lda = k,
           .ldb = n,
           .ldc = n,
           .beta = c ? 1. : 0.},
          {a, b, c ? c : d, d});
  }
  // a b^T
  void by_transposed(std::int64_t m, int n, int k, const Bf16* a, const Bf16* b, Bf16* d) {
    blas_({.precision = Precision::bf16,
           .m = static_cast<int>(m),
           .n = n,
           .k = k,
           .transpose_b = true,
           .lda = k,
           .ldb = k,
           .ldc = n},
          a, b, d);
  }
  // a^T b; for f32 added to what is there where `adds`.
  void transposed(int m, int n, std::int64_t k, const Bf16* a, const Bf16* b, Bf16* d) {
    blas_(over_rows(m, n, k), a, b, d);
  }
  void transposed(int m, int n, std::int64_t k, const Bf16* a, const Bf16* b, float* d, bool adds) {
    Gemm problem = over_rows(m, n, k);
    problem.result = Precision::f32;
    problem.beta = adds ? 1 : 0;
    blas_(problem, a, b, d);
  }

  Blas& blas() { return blas_; }

 private:
  static Gemm over_rows(int m, int n, std::int64_t k) {
    return {.precision = Precision::bf16,
            .m = m,
            .n = n,
            .k = static_cast<int>(k),
            .transpose_a = true,
            .lda = m,
            .ldb = n,
            .ldc = n};
  }

  Blas blas_;
};

}  // namespace holdfast::gpt_train
