// SPDX-License-Identifier: Apache-2.0
// Attention's operations on a tile: copying it from rows of heads, hiding pairs, powers of scores.
// Compiled per instruction set.
#pragma once

#include <algorithm>
#include <limits>

#include "gpt_train/host/tile_product.hpp"

namespace holdfast::gpt_train::HOLDFAST_ISA {

inline constexpr int tile = 64;
static_assert(block_rows <= Lanes<double>::count && tile % Lanes<float>::count == 0,
              "whole vectors up to a row's own number reach to the end of its block");

inline int whole_vectors(int columns, int lanes) {
  return (columns + lanes - 1) / lanes * lanes;
}

template <class T>
struct Tiles {
  int head = 0;  // numbers per row
  int wide = 0;  // in whole vectors

  // Copies a tile of one head into rows of whole vectors, padded with zeros to the right and below.
  void take(const T* from, int row_pitch, int rows, T factor, T* to) const {
    for (int i = 0; i < rows; ++i) {
#pragma omp simd
      for (int j = 0; j < head; ++j) to[i * wide + j] = factor * from[i * row_pitch + j];
      for (int j = head; j < wide; ++j) to[i * wide + j] = 0;
    }
    std::fill(to + rows * wide, to + tile * wide, T(0));
  }
  void take_transposed(const T* from, int row_pitch, int rows, T* to) const {
    for (int i = 0; i < tile; ++i)
      for (int j = 0; j < head; ++j) to[j * tile + i] = i < rows ? from[i * row_pitch + j] : T(0);
  }
};

// False if the ranges of segments do not overlap, so that no pair sees each other.
inline bool touch(const int* queries, int query_rows, const int* keys, int key_rows) {
  const auto [q_low, q_high] = std::minmax_element(queries, queries + query_rows);
  const auto [k_low, k_high] = std::minmax_element(keys, keys + key_rows);
  return *k_low <= *q_high && *q_low <= *k_high;
}
// Hides the scores of a row except those of keys that are before `seen` and of its own segment.
template <class T>
void hide(T* scores, const int* keys, int rows, int own, int seen) {
  seen = std::clamp(seen, 0, rows);
#pragma omp simd
  for (int j = 0; j < seen; ++j)
    scores[j] = keys[j] == own ? scores[j] : -std::numeric_limits<T>::infinity();
  for (int j = seen; j < tile; ++j) scores[j] = -std::numeric_limits<T>::infinity();
}

// `count`, here and below: a multiple of the lanes.
template <class T>
T highest_of(const T* scores, int count) {
  Vector<T> high = load(scores);
  for (int j = Lanes<T>::count; j < count; j += Lanes<T>::count) {
    const Vector<T> next = load(scores + j);
    high = next > high ? next : high;
  }
  T highest = high[0];
  for (int k = 1; k < Lanes<T>::count; ++k) highest = std::max(highest, high[k]);
  return highest;
}
// Whether a row has a NaN, which the maximum may ignore.
template <class T>
bool has_nan(const T* scores) {
  return std::any_of(scores, scores + tile, [](T score) { return score != score; });
}
// Replaces a row of scores by 2^(score - most); returns their sum.
template <class T>
T powers(T* scores, T most, int count) {
  Vector<T> sum = {};
  for (int j = 0; j < count; j += Lanes<T>::count) {
    const Vector<T> power = power_of_two<T>(load(scores + j) - most);
    store(scores + j, power);
    sum += power;
  }
  return sum_of<T>(sum);
}

}  // namespace holdfast::gpt_train::HOLDFAST_ISA
