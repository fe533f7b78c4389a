// SPDX-License-Identifier: Apache-2.0
// The reference's products on a host, of dense rows, each a call of the library by itself.
#pragma once

#include <cstdint>

#include "runtime/backend/blas.hpp"

namespace holdfast::gpt_train::HOLDFAST_ISA {

template <class T>
class PlainProducts {
 public:
  explicit PlainProducts(Backend& backend) : blas_(backend) {}

  // c [m, n] = a b
  void operator()(std::int64_t m, int n, int k, const T* a, const T* b, T* c) {
    blas_({.precision = precision, .m = int(m), .n = n, .k = k, .lda = k, .ldb = n, .ldc = n}, a, b,
          c);
  }
  // Of out [m, n] = in w, with w [k, n]: dw, and d_in.
  void backward(std::int64_t m, int n, int k, const T* in, const T* w, const T* d_out, T* dw,
                T* d_in) {
    blas_({.precision = precision,
           .m = k,
           .n = n,
           .k = int(m),
           .transpose_a = true,
           .lda = k,
           .ldb = n,
           .ldc = n},
          in, d_out, dw);
    blas_({.precision = precision,
           .m = int(m),
           .n = k,
           .k = n,
           .transpose_b = true,
           .lda = n,
           .ldb = n,
           .ldc = k},
          d_out, w, d_in);
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
