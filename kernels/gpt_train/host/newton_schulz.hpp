// SPDX-License-Identifier: Apache-2.0
// Newton-Schulz of matrices of one shape, in batches that fit in the caches. Compiled per
// instruction set.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "arrays/host_loops.hpp"
#include "gpt_train/host/products.hpp"
#include "gpt_train/problem/rates.hpp"

namespace holdfast::gpt_train::HOLDFAST_ISA {

// Calls body(place in the matrix, place in x): x has no more rows than columns, so matrices with
// more are transposed. In squares, so that both are read in whole cache lines.
template <class Body>
void each_place(int rows, int columns, int pitch, const Body& body) {
  constexpr int side = 16;
  if (rows <= columns) {
    for (int i = 0; i < rows; ++i)
#pragma omp simd
      for (int j = 0; j < columns; ++j)
        body(std::int64_t{i} * pitch + j, std::int64_t{i} * columns + j);
    return;
  }
  for (int i0 = 0; i0 < rows; i0 += side)
    for (int j0 = 0; j0 < columns; j0 += side)
      for (int i = i0; i < std::min(i0 + side, rows); ++i)
#pragma omp simd
        for (int j = j0; j < std::min(j0 + side, columns); ++j)
          body(std::int64_t{i} * pitch + j, std::int64_t{j} * rows + i);
}

// Scales x to norm 1.
template <class T>
void normalise(T* x, std::int64_t count) {
  double squares = 0;
#pragma omp simd reduction(+ : squares)
  for (std::int64_t k = 0; k < count; ++k) squares += double(x[k]) * double(x[k]);
  const T factor = static_cast<T>(1 / (std::sqrt(squares) + newton_schulz_epsilon));
#pragma omp simd
  for (std::int64_t k = 0; k < count; ++k) x[k] *= factor;
}

// The number of rows from which a product by halves is faster than a whole one: for 128 rows it
// takes 4 % longer, since the library is called twice.
inline constexpr int rows_worth_halving = 256;

// alpha x x^T of consecutive matrices [m, depth], which is symmetric: in the upper half of its rows
// only the left half is multiplied; the right one is the transpose of the lower half's.
template <class T>
void multiply_by_itself(Blas& blas, int m, int depth, int batch, double alpha, const T* x,
                        T* squares) {
  const std::int64_t square = std::int64_t{m} * m;
  const int upper = m < rows_worth_halving ? 0 : m / 32 * 16;
  const auto rows = [&](int first, int count, int columns) {
    Gemm part = dense(precision_of<T>, count, columns, depth, false, true, batch);
    part.ldc = m;
    part.stride_a = part.stride_b = std::int64_t{m} * depth;
    part.stride_c = square;
    part.alpha = alpha;
    blas(part, x + std::int64_t{first} * depth, x, squares + std::int64_t{first} * m);
  };
  if (upper > 0) rows(0, upper, upper);
  rows(upper, m - upper, m);
  constexpr int side = 16;
  arrays::HOLDFAST_ISA::each_long<T>(upper > 0 ? batch : 0, square / 2, [=](std::int64_t k) {
    T* const of = squares + k * square;
    for (int i0 = 0; i0 < upper; i0 += side)
      for (int j0 = upper; j0 < m; j0 += side)
        for (int i = i0; i < i0 + side; ++i)
#pragma omp simd
          for (int j = j0; j < std::min(j0 + side, m); ++j)
            of[std::int64_t{i} * m + j] = of[std::int64_t{j} * m + i];
  });
}

// The iteration on consecutive matrices [m, q], with x and next swapping places. With A = x x^T its
// factor a + b A + c A^2 is c (A + b / 2c)^2 + a - b^2 / 4c: three products, two of which are
// symmetric, and two diagonals, with no other pass.
template <class T>
void make_orthogonal(Blas& blas, int m, int q, int batch, T*& x, T*& next, T* gram, T* factor) {
  const auto [a, b, c] = newton_schulz;
  const std::int64_t square = std::int64_t{m} * m;
  const Gemm last = dense(precision_of<T>, m, q, m, false, false, batch);
  const auto add_to_diagonals = [=](T* squares, double what) {
    for (std::int64_t k = 0; k < batch; ++k)
      for (int i = 0; i < m; ++i) squares[k * square + i * (m + 1)] += static_cast<T>(what);
  };
  for (int step = 0; step < newton_schulz_steps; ++step) {
    multiply_by_itself(blas, m, q, batch, 1, x, gram);
    add_to_diagonals(gram, b / (2 * c));
    multiply_by_itself(blas, m, m, batch, c, gram, factor);
    add_to_diagonals(factor, a - b * b / (4 * c));
    blas(last, factor, x, next);
    std::swap(x, next);
  }
}

}  // namespace holdfast::gpt_train::HOLDFAST_ISA
