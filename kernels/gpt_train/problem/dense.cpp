// SPDX-License-Identifier: Apache-2.0
#include "gpt_train/problem/dense.hpp"

namespace holdfast::gpt_train {

Gemm dense(Precision precision, std::int64_t m, std::int64_t n, std::int64_t k, bool transpose_a,
           bool transpose_b, int batch) {
  return {.precision = precision,
          .m = static_cast<int>(m),
          .n = static_cast<int>(n),
          .k = static_cast<int>(k),
          .transpose_a = transpose_a,
          .transpose_b = transpose_b,
          .lda = static_cast<int>(transpose_a ? m : k),
          .ldb = static_cast<int>(transpose_b ? k : n),
          .ldc = static_cast<int>(n),
          .stride_a = batch > 1 ? m * k : 0,
          .stride_b = batch > 1 ? n * k : 0,
          .stride_c = batch > 1 ? m * n : 0,
          .batch = batch};
}

NewtonSchulzProducts::NewtonSchulzProducts(Precision precision, int m, int q, int batch)
    : outer(dense(precision, m, m, q, false, true, batch)),
      inner(dense(precision, m, m, m, false, false, batch)),
      last(dense(precision, m, q, m, false, false, batch)) {}

}  // namespace holdfast::gpt_train
