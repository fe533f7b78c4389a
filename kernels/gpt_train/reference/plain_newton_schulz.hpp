// SPDX-License-Identifier: Apache-2.0
// Newton-Schulz of one matrix, each operation separate with its own result. Compiled per
// instruction set.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "gpt_train/host/products.hpp"
#include "gpt_train/reference/plain_rows.hpp"

namespace holdfast::gpt_train::HOLDFAST_ISA::plain {

template <class T>
void turn(const T* x, int rows, int columns, T* out) {
  each_long<T>(columns, 2 * rows, [=](std::int64_t j) {
    for (int i = 0; i < rows; ++i) out[j * rows + i] = x[std::int64_t{i} * columns + j];
  });
}

// In place in x. wide and product: two more matrices; squares: three of `square` numbers or more.
template <class T>
void make_orthogonal(Blas& blas, int rows, int columns, T* x, T* wide, T* product, T* squares,
                     std::int64_t square) {
  const std::int64_t count = std::int64_t{rows} * columns;
  const bool turned = rows > columns;
  const int m = std::min(rows, columns), q = std::max(rows, columns);
  T *gram = squares, *again = gram + square, *factor = again + square;
  if (turned)
    turn(x, rows, columns, wide);
  else
    std::copy_n(x, count, wide);
  double sum = 0;
  for (std::int64_t k = 0; k < count; ++k) sum += double(wide[k]) * double(wide[k]);
  scale(wide, 1 / (std::sqrt(sum) + newton_schulz_epsilon), count, wide);
  const auto [a, b, c] = newton_schulz;
  const NewtonSchulzProducts of(precision_of<T>, m, q, 1);
  for (int step = 0; step < newton_schulz_steps; ++step) {
    blas(of.outer, wide, wide, gram);
    blas(of.inner, gram, gram, again);
    const T first = T(b), second = T(c), own = T(a);
    each<T>(std::int64_t{m} * m,
            [=](std::int64_t k) { factor[k] = first * gram[k] + second * again[k]; });
    blas(of.last, factor, wide, product);
    each<T>(count, [=](std::int64_t k) { wide[k] = own * wide[k] + product[k]; });
  }
  if (turned)
    turn(wide, m, q, x);
  else
    std::copy_n(wide, count, x);
}

}  // namespace holdfast::gpt_train::HOLDFAST_ISA::plain
