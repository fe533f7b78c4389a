// SPDX-License-Identifier: Apache-2.0
// Products of dense rows as data, for every variant's library.
#pragma once

#include <cstdint>

#include "runtime/base/gemm.hpp"

namespace holdfast::gpt_train {

// C [m, n] = op(A) op(B), of rows without gaps; of a batch one after the other in memory. Not
// inline, as nothing that is compiled for each instruction set may be.
Gemm dense(Precision precision, std::int64_t m, std::int64_t n, std::int64_t k,
           bool transpose_a = false, bool transpose_b = false, int batch = 1);

// The three of a step of Newton-Schulz, of matrices [m, q]: x x^T, the square of that, and a square
// times x.
struct NewtonSchulzProducts {
  Gemm outer = {}, inner = {}, last = {};

  NewtonSchulzProducts(Precision precision, int m, int q, int batch);
};

}  // namespace holdfast::gpt_train
