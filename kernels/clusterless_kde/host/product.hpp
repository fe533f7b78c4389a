// SPDX-License-Identifier: Apache-2.0
// C = A B or C += A B with C in registers, for the few rows and columns of a tile. Each element of
// C is the sum over k in order, whatever tile it lies in: BLAS does not promise that, and a decode
// in time chunks must equal the whole one bitwise.
#pragma once

#include <array>
#include <cstddef>
#include <utility>

#include "host/vectors.hpp"

namespace holdfast::clusterless_kde::HOLDFAST_ISA {

using namespace host::HOLDFAST_ISA;

// Rows, and vectors per row, of a register tile: as many as the registers hold.
inline constexpr int product_rows = 6;
inline constexpr int product_vectors = vector_bytes == 64 ? 4 : 2;

// a: [rows, depth], pitch `a_pitch`; b: [depth, vectors], pitch `b_pitch`; c: rows, anywhere.
template <class T>
struct Product {
  int depth = 0;
  const T* a = nullptr;
  std::ptrdiff_t a_pitch = 0;
  const T* b = nullptr;
  std::ptrdiff_t b_pitch = 0;
  bool add = false;  // to the contents of C
};

template <class T, int rows, int vectors>
void multiply_tile(const Product<T>& p, T* const* c, std::ptrdiff_t column) {
  constexpr int lanes = Lanes<T>::count;
  Vector<T> sum[rows][vectors] = {};
  if (p.add) {
#pragma GCC unroll 8
    for (int r = 0; r < rows; ++r)
#pragma GCC unroll 8
      for (int v = 0; v < vectors; ++v) sum[r][v] = load(c[r] + column + v * lanes);
  }
  const T *a = p.a, *b = p.b + column;
  for (int k = 0; k < p.depth; ++k, ++a, b += p.b_pitch) {
    Vector<T> row[vectors];
#pragma GCC unroll 8
    for (int v = 0; v < vectors; ++v) row[v] = load(b + v * lanes);
#pragma GCC unroll 8
    for (int r = 0; r < rows; ++r)
#pragma GCC unroll 8
      for (int v = 0; v < vectors; ++v) sum[r][v] += a[r * p.a_pitch] * row[v];
  }
#pragma GCC unroll 8
  for (int r = 0; r < rows; ++r)
#pragma GCC unroll 8
    for (int v = 0; v < vectors; ++v) store(c[r] + column + v * lanes, sum[r][v]);
}

template <class T>
using Tile = void (*)(const Product<T>&, T* const*, std::ptrdiff_t);

// Indexed by (rows - 1) * product_vectors + vectors - 1.
template <class T, std::size_t... at>
constexpr std::array<Tile<T>, sizeof...(at)> every_tile(std::index_sequence<at...>) {
  return {multiply_tile<T, at / product_vectors + 1, at % product_vectors + 1>...};
}
template <class T>
inline constexpr auto tiles = every_tile<T>(
    std::make_index_sequence<static_cast<std::size_t>(product_rows) * product_vectors>());

// `columns` is a multiple of a vector's lanes, `rows` at most product_rows.
template <class T>
void multiply(const Product<T>& product, int rows, int columns, T* const* c) {
  for (int column = 0, left = columns / Lanes<T>::count; left > 0;) {
    const int vectors = left < product_vectors ? left : product_vectors;
    tiles<T>[(rows - 1) * product_vectors + vectors - 1](product, c, column);
    column += vectors * Lanes<T>::count;
    left -= vectors;
  }
}

}  // namespace holdfast::clusterless_kde::HOLDFAST_ISA
