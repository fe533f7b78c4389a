// SPDX-License-Identifier: Apache-2.0
// A model's products in bf16, with dense rows.
#pragma once

#include "gpt_train/problem/dense.hpp"
#include "runtime/backend/blas.hpp"

namespace holdfast::gpt_train {

class Products {
 public:
  explicit Products(Backend& backend) : blas_(backend, planned_gemm_work_area_bytes) {}

  // d = a b + c; without c only a b.
  void operator()(std::int64_t m, int n, int k, const Bf16* a, const Bf16* b, Bf16* d,
                  const Bf16* c = nullptr) {
    Gemm problem = dense(Precision::bf16, m, n, k);
    problem.beta = c ? 1 : 0;
    blas_(problem, {a, b, c ? c : d, d});
  }
  // a b^T
  void by_transposed(std::int64_t m, int n, int k, const Bf16* a, const Bf16* b, Bf16* d) {
    blas_(dense(Precision::bf16, m, n, k, false, true), a, b, d);
  }
  // a^T b; in f32 added to the output if `adds`.
  void transposed(int m, int n, std::int64_t k, const Bf16* a, const Bf16* b, Bf16* d) {
    blas_(dense(Precision::bf16, m, n, k, true), a, b, d);
  }
  void transposed(int m, int n, std::int64_t k, const Bf16* a, const Bf16* b, float* d, bool adds) {
    Gemm problem = dense(Precision::bf16, m, n, k, true);
    problem.result = Precision::f32;
    problem.beta = adds ? 1 : 0;
    blas_(problem, a, b, d);
  }

  Blas& blas() { return blas_; }

 private:
  Blas blas_;
};

}  // namespace holdfast::gpt_train
