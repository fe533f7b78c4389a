// SPDX-License-Identifier: Apache-2.0
// Small products whose right operand and result have rows of whole vectors: the parts of tiled
// attention. Compiled per instruction set.
#pragma once

#include <algorithm>

#include "host/vectors.hpp"

namespace holdfast::gpt_train::HOLDFAST_ISA {

using namespace host::HOLDFAST_ISA;

inline constexpr double log2_of_e = 1.442695040888963407;

// 2^x, with NaN for NaN.
template <class T>
Vector<T> power_of_two(Vector<T> x) {
  return x == x ? exp2<T>(x) : x;
}

// The left operand: element (i, k) is data[i * row + k * depth], so that it may be read transposed.
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

// The needed part of a product with a lower triangular matrix. At least that part of each block of
// rows is computed; beyond the triangle, only the blocks on its diagonal are read.
enum class Part {
  whole,
  columns_to_row,  // of the result, the triangle: the rest stays as it was
  depth_to_row,    // the left operand is the triangle
  depth_from_row   // the left operand is the triangle, transposed
};

// The product's columns from `column` on.
template <class T, int wide>
void column_product(const Left<T>& a, int rows, int depth, const T* b, int pitch_b, T* c,
                    int pitch_c, bool add, Part part, int column) {
  const auto block = [&]<int height>(int i) {
    if (part == Part::columns_to_row && column >= i + height) return;
    const int begin = part == Part::depth_from_row ? std::min(i, depth) : 0;
    const int end = part == Part::depth_to_row ? std::min(i + height, depth) : depth;
    block_product<T, height, wide>({a.data + i * a.row + begin * a.depth, a.row, a.depth},
                                   end - begin, b + begin * pitch_b, pitch_b, c + i * pitch_c,
                                   pitch_c, add);
  };
  int i = 0;
  for (; i + block_rows <= rows; i += block_rows) block.template operator()<block_rows>(i);
  for (; i < rows; ++i) block.template operator()<1>(i);
}

// columns: a multiple of the lanes.
template <class T>
void tile_product(const Left<T>& a, int rows, int depth, const T* b, int pitch_b, int columns, T* c,
                  int pitch_c, bool add, Part part = Part::whole) {
  constexpr int lanes = Lanes<T>::count;
  int j = 0;
  for (; j + 2 * lanes <= columns; j += 2 * lanes)
    column_product<T, 2>(a, rows, depth, b + j, pitch_b, c + j, pitch_c, add, part, j);
  if (j < columns)
    column_product<T, 1>(a, rows, depth, b + j, pitch_b, c + j, pitch_c, add, part, j);
}

}  // namespace holdfast::gpt_train::HOLDFAST_ISA
