// SPDX-License-Identifier: Apache-2.0
// Products of dense rows as data, for every variant's library.
#pragma once

#include <cstdint>

#include "runtime/base/gemm.hpp"

namespace holdfast::gpt_train {

// C [m, n] = op(A) op(B), with rows without gaps; batches are contiguous. Not inline, because
// nothing compiled per instruction set may be.
Gemm dense(Precision precision, std::int64_t m, std::int64_t n, std::int64_t k,
           bool transpose_a = false, bool transpose_b = false, int batch = 1);

// The three products of a Newton-Schulz step for matrices [m, q]: x x^T, its square, and a square
// times x.
struct NewtonSchulzProducts {
  Gemm outer = {}, inner = {}, last = {};

  NewtonSchulzProducts(Precision precision, int m, int q, int batch);
};

}  // namespace holdfast::gpt_train
