// SPDX-License-Identifier: Apache-2.0
// Newton-Schulz of one matrix on a device in TF32, each operation separate with its own result: 28
// launches, and two more if it is transposed.
#pragma once

#include <algorithm>
#include <cstdint>

#include "gpt_train/problem/dense.hpp"
#include "gpt_train/problem/rates.hpp"
#include "gpt_train/reference/plain_kernels.hpp"
#include "runtime/backend/blas.hpp"

namespace holdfast::gpt_train {

class DevicePlainNewtonSchulz {
 public:
  static constexpr unsigned most_parts = 256;  // of a sum of squares

  // The numbers held: two matrices of `largest`, three squares of `square`, sums.
  static std::int64_t numbers(std::int64_t largest, std::int64_t square) {
    return 2 * largest + 3 * square + most_parts + 4;
  }
  DevicePlainNewtonSchulz(const PlainUpdateKernels& kernels, std::int64_t largest,
                          std::int64_t square, float* scratch)
      : kernels_(kernels),
        wide_(scratch),
        product_(wide_ + largest),
        gram_(product_ + largest),
        again_(gram_ + square),
        factor_(again_ + square),
        partial_(factor_ + square),
        inverse_(partial_ + most_parts) {}

  // Orthogonalises x in place.
  void operator()(Blas& blas, int rows, int columns, float* x) {
    const std::int64_t count = std::int64_t{rows} * columns;
    const bool turned = rows > columns;
    const int m = std::min(rows, columns), q = std::max(rows, columns);
    float* const wide = turned ? wide_ : x;
    if (turned) turn(x, rows, columns, wide);
    const unsigned parts = std::min(most_parts, blocks(count, 8 * plain_row_threads));
    kernels_.sum_squares({.grid = {parts}, .block = {plain_row_threads}}, wide, count, partial_);
    kernels_.invert_norm({.block = {plain_row_threads}}, partial_, static_cast<int>(parts),
                         static_cast<float>(newton_schulz_epsilon), inverse_);
    kernels_.scale_by(plain_flat(count), wide, inverse_, count, wide);
    const auto [a, b, c] = newton_schulz;
    const NewtonSchulzProducts of(Precision::tf32, m, q, 1);
    for (int step = 0; step < newton_schulz_steps; ++step) {
      blas(of.outer, wide, wide, gram_);
      blas(of.inner, gram_, gram_, again_);
      blend(again_, c, gram_, b, std::int64_t{m} * m, factor_);
      blas(of.last, factor_, wide, product_);
      blend(product_, 1, wide, a, count, wide);
    }
    if (turned) turn(wide, m, q, x);
  }

  // Bytes read and written so far to transpose matrices.
  std::int64_t layout_bytes() const { return layout_bytes_; }

 private:
  void blend(const float* what, double by_what, const float* old, double by_old, std::int64_t count,
             float* out) const {
    kernels_.blend.of<float>()(plain_flat(count), what, static_cast<float>(by_what), old,
                               static_cast<float>(by_old), count, out);
  }
  void turn(const float* x, int rows, int columns, float* out) {
    kernels_.turn({.grid = {blocks(columns, 32), blocks(rows, 32)}, .block = {32, 8}}, x, rows,
                  columns, out);
    layout_bytes_ += 2 * std::int64_t{rows} * columns * std::int64_t{sizeof(float)};
  }
  const PlainUpdateKernels& kernels_;
  float *wide_, *product_, *gram_, *again_, *factor_, *partial_, *inverse_;
  std::int64_t layout_bytes_ = 0;
};

}  // namespace holdfast::gpt_train
