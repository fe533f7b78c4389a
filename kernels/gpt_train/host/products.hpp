// SPDX-License-Identifier: Apache-2.0
// A model's products on a host, with dense rows: shared by both variants. Compiled per instruction
// set.
#pragma once

#include <cstdint>

#include "gpt_train/problem/dense.hpp"
#include "runtime/backend/blas.hpp"

namespace holdfast::gpt_train::HOLDFAST_ISA {

template <class T>
class Products {
 public:
  explicit Products(Backend& backend) : blas_(backend) {}

  // c [m, n] = a b + beta c
  void operator()(std::int64_t m, int n, int k, const T* a, const T* b, T* c, double beta = 0) {
    multiply(dense(precision_of<T>, m, n, k), beta, a, b, c);
  }
  // a b^T
  void by_transposed(std::int64_t m, int n, int k, const T* a, const T* b, T* c) {
    blas_(dense(precision_of<T>, m, n, k, false, true), a, b, c);
  }
  // a^T b + beta c
  void transposed(int m, int n, std::int64_t k, const T* a, const T* b, T* c, double beta = 0) {
    multiply(dense(precision_of<T>, m, n, k, true), beta, a, b, c);
  }
  // `count` products, consecutive in memory: c [m, n] = op(a) op(b).
  void batched(int count, int m, int n, int k, bool turn_a, bool turn_b, const T* a, const T* b,
               T* c) {
    blas_(dense(precision_of<T>, m, n, k, turn_a, turn_b, count), a, b, c);
  }

  Blas& blas() { return blas_; }

 private:
  void multiply(Gemm problem, double beta, const T* a, const T* b, T* c) {
    problem.beta = beta;
    blas_(problem, a, b, c);
  }

  Blas blas_;
};

}  // namespace holdfast::gpt_train::HOLDFAST_ISA
