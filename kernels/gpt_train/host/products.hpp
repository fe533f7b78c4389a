// SPDX-License-Identifier: Apache-2.0
// A model's products on a host, of dense rows: what both variants share. Compiled once for each
// instruction set.
#pragma once

#include <cstdint>

#include "runtime/backend/blas.hpp"

namespace holdfast::gpt_train::HOLDFAST_ISA {

template <class T>
class Products {
 public:
  explicit Products(Backend& backend) : blas_(backend) {}

  // c [m, n] = a b + beta c
  void operator()(std::int64_t m, int n, int k, const T* a, const T* b, T* c, double beta = 0) {
    blas_({.precision = precision,
           .m = int(m),
           .n = n,
           .k = k,
           .lda = k,
           .ldb = n,
           .ldc = n,
           .beta = beta},
          a, b, c);
  }
  // a b^T
  void by_transposed(std::int64_t m, int n, int k, const T* a, const T* b, T* c) {
    blas_({.precision = precision,
           .m = int(m),
           .n = n,
           .k = k,
           .transpose_b = true,
           .lda = k,
           .ldb = k,
           .ldc = n},
          a, b, c);
  }
  // a^T b + beta c
  void transposed(int m, int n, std::int64_t k, const T* a, const T* b, T* c, double beta = 0) {
    blas_({.precision = precision,
           .m = m,
           .n = n,
           .k = int(k),
           .transpose_a = true,
           .lda = m,
           .ldb = n,
           .ldc = n,
           .beta = beta},
          a, b, c);
  }
  // `count` products, one after the other in memory: c [m, n] = op(a) op(b).
  void batched(int count, int m, int n, int k, bool turn_a, bool turn_b, const T* a, const T* b,
               T* c) {
    blas_({.precision = precision,
           .m = m,
           .n = n,
           .k = k,
           .transpose_a = turn_a,
           .transpose_b = turn_b,
           .lda = turn_a ? m : k,
           .ldb = turn_b ? k : n,
           .ldc = n,
           .stride_a = std::int64_t{m} * k,
           .stride_b = std::int64_t{n} * k,
           .stride_c = std::int64_t{m} * n,
           .batch = count},
          a, b, c);
  }

  Blas& blas() { return blas_; }

 private:
  static constexpr Precision precision = sizeof(T) == 4 ? Precision::f32 : Precision::f64;
  Blas blas_;
};

}  // namespace holdfast::gpt_train::HOLDFAST_ISA
