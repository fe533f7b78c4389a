// SPDX-License-Identifier: Apache-2.0
// Small products whose right operand and result lie in rows of whole vectors: what tiles of
// attention are made of. Compiled once for each instruction set.
#pragma once

#include "host/vectors.hpp"

namespace holdfast::gpt_train::HOLDFAST_ISA {

using namespace host::HOLDFAST_ISA;

inline constexpr double log2_of_e = 1.442695040888963407;

// 2^x, in which what is no number stays that.
template <class T>
Vector<T> power_of_two(Vector<T> x) {
  return x == x ? exp2<T>(x) : x;
}

// The left operand: element (i, k) stands at data[i * row + k * depth], so that one may be read
// transposed.
template <class T>
struct Left {
  const T* data = nullptr;
  int row = 0, depth = 0;
};

// c[rows, wide vectors] = or += a[rows, depth] b[depth, wide vectors], in registers.
template <class T, int rows, int wide>
void block_product(const Left<T>& a, int depth, const T* b, int pitch_b, T* c, int pitch_c,
                   bool add) {
  constexpr int lanes = Lanes<T>::count;
  Vector<T> sum[rows][wide] = {};
  for (int k = 0; k < depth; ++k)
    for (int w = 0; w < wide; ++w) {
      const Vector<T> right = load(b + k * pitch_b + w * lanes);
      for (int i = 0; i < rows; ++i) sum[i][w] += a.data[i * a.row + k * a.depth] * right;
    }
  for (int i = 0; i < rows; ++i)
    for (int w = 0; w < wide; ++w) {
      T* at = c + i * pitch_c + w * lanes;
      store(at, add ? load(at) + sum[i][w] : sum[i][w]);
    }
}

#ifdef __AVX512F__
inline constexpr int block_rows = 8;
#else
inline constexpr int block_rows = 4;
#endif

template <class T, int wide>
void column_product(Left<T> a, int rows, int depth, const T* b, int pitch_b, T* c, int pitch_c,
                    bool add) {
  int i = 0;
  for (; i + block_rows <= rows; i += block_rows)
    block_product<T, block_rows, wide>({a.data + i * a.row, a.row, a.depth}, depth, b, pitch_b,
                                       c + i * pitch_c, pitch_c, add);
  for (; i < rows; ++i)
    block_product<T, 1, wide>({a.data + i * a.row, a.row, a.depth}, depth, b, pitch_b,
                              c + i * pitch_c, pitch_c, add);
}

// columns: a multiple of the lanes.
template <class T>
void tile_product(const Left<T>& a, int rows, int depth, const T* b, int pitch_b, int columns, T* c,
                  int pitch_c, bool add) {
  constexpr int lanes = Lanes<T>::count;
  int j = 0;
  for (; j + 2 * lanes <= columns; j += 2 * lanes)
    column_product<T, 2>(a, rows, depth, b + j, pitch_b, c + j, pitch_c, add);
  if (j < columns) column_product<T, 1>(a, rows, depth, b + j, pitch_b, c + j, pitch_c, add);
}

}  // namespace holdfast::gpt_train::HOLDFAST_ISA
