// SPDX-License-Identifier: Apache-2.0
// Tiles of 64 rows of one head in shared memory, and a warp's products with them. A row is stored
// in chunks of eight bf16, 16 bytes, permuted by row, so that eight rows of one column lie in
// different banks.
#pragma once

#include "gpt_train/device/attention_form.hpp"
#include "runtime/device_code/tensor_core.cuh"

namespace holdfast::gpt_train {

template <int head>
struct Tile {
  static constexpr int chunks = head / 8;
  static constexpr int words = attention_tile * chunks;  // of 16 bytes

  static __device__ inline int place(int row, int chunk) {
    const int turn = chunks == 4 ? row / 2 % 4 : row % 8;
    return row * chunks + (chunk ^ turn);
  }
};

// Starts to copy rows first .. first + 63 of `from`, which has `rows` rows; beyond them the last
// one is repeated, for a mask to hide.
template <int head>
__device__ inline void fetch(uint4* tile, const Bf16* from, int pitch, int first, int rows) {
  constexpr int chunks = Tile<head>::chunks;
#pragma unroll
  for (int i = threadIdx.x; i < Tile<head>::words; i += attention_block) {
    const int row = i / chunks, chunk = i % chunks;
    const Bf16* source = from + static_cast<long long>(min(first + row, rows - 1)) * pitch;
    copy_async(tile + Tile<head>::place(row, chunk), source + 8 * chunk);
  }
}

// Columns from 16 k on of this warp's 16 rows of a tile as a left operand.
template <int head>
__device__ inline void take_rows(unsigned (&part)[4], const uint4* tile, int k) {
  const int lane = threadIdx.x % 32, row = threadIdx.x / 32 * 16 + lane % 16;
  load_matrices(part, tile + Tile<head>::place(row, 2 * k + lane / 16));
}

// This warp's rows of a tile: in registers if they fit, else read again for each product.
template <int head, bool in_registers = true>
struct Rows {
  unsigned part[head / 16][4];

  __device__ void take(const uint4* tile) {
#pragma unroll
    for (int k = 0; k < head / 16; ++k) take_rows<head>(part[k], tile, k);
  }
  __device__ void get(unsigned (&a)[4], int k) const {
    for (int i = 0; i < 4; ++i) a[i] = part[k][i];
  }
};
template <int head>
struct Rows<head, false> {
  const uint4* tile;

  __device__ void take(const uint4* from) { tile = from; }
  __device__ void get(unsigned (&a)[4], int k) const { take_rows<head>(a, tile, k); }
};

// sums += rows tile^T: the products of 16 rows with 8 `count` rows of the tile from `first` on.
template <int head, int count, bool in_registers>
__device__ inline void add_scores(float (&sums)[count][4], const Rows<head, in_registers>& rows,
                                  const uint4* tile, int first) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int k = 0; k < head / 16; ++k) {
    unsigned a[4];
    rows.get(a, k);
#pragma unroll
    for (int j = 0; j < count; j += 2) {
      unsigned b[4];
      load_matrices(b, tile + Tile<head>::place(first + 8 * j + lane / 16 * 8 + lane % 8,
                                                2 * k + lane / 8 % 2));
      mma_bf16(sums[j], a, b[0], b[1], sums[j]);
      mma_bf16(sums[j + 1], a, b[2], b[3], sums[j + 1]);
    }
  }
}

// sums += shares tile, with shares of 16 by 16 and the tile's rows from `first` on.
template <int head>
__device__ inline void add_rows(float (&sums)[head / 8][4], const unsigned (&shares)[4],
                                const uint4* tile, int first) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int j = 0; j < head / 8; j += 2) {
    unsigned b[4];
    load_transposed(b, tile + Tile<head>::place(first + lane % 16, j + lane / 16));
    mma_bf16(sums[j], shares, b[0], b[1], sums[j]);
    mma_bf16(sums[j + 1], shares, b[2], b[3], sums[j + 1]);
  }
}

// Two adjacent tiles of sums, 16 by 16, as a left operand.
__device__ inline void as_operand(unsigned (&part)[4], const float (&left)[4],
                                  const float (&right)[4]) {
  part[0] = pack_bf16(left[0], left[1]);
  part[1] = pack_bf16(left[2], left[3]);
  part[2] = pack_bf16(right[0], right[1]);
  part[3] = pack_bf16(right[2], right[3]);
}

// The part of a warp's 16 rows that a thread holds, in sums of eight columns each: rows `row` and
// row + 8, columns `column` and the next.
struct Held {
  int row = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4, column = threadIdx.x % 4 * 2;
};

// Writes factor times the sums to rows first + held.row and eight further, if below `rows`.
template <int head>
__device__ inline void put_rows(Bf16* to, int pitch, int first, int rows, Held held,
                                const float (&sums)[head / 8][4], float upper, float lower) {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int row = first + held.row + 8 * half;
    if (row >= rows) continue;
    Bf16* at = to + static_cast<long long>(row) * pitch + held.column;
    const float factor = half ? lower : upper;
#pragma unroll
    for (int j = 0; j < head / 8; ++j)
      *reinterpret_cast<unsigned*>(at + 8 * j) =
          pack_bf16(factor * sums[j][2 * half], factor * sums[j][2 * half + 1]);
  }
}

// The sum, or the maximum, over the four threads of a row.
__device__ inline float sum_of_row(float x) {
  x += __shfl_xor_sync(0xffffffffu, x, 1);
  return x + __shfl_xor_sync(0xffffffffu, x, 2);
}
__device__ inline float highest_of_row(float x) {
  x = fmaxf(x, __shfl_xor_sync(0xffffffffu, x, 1));
  return fmaxf(x, __shfl_xor_sync(0xffffffffu, x, 2));
}

// The mask: a query sees itself and earlier keys of its own segment.
__device__ inline bool sees(int query, int query_segment, int key, int key_segment) {
  return key <= query && key_segment == query_segment;
}

// Two tiles by the ranges of their segments: whether no pair sees each other, and whether all pairs
// are of one segment.
__device__ inline bool apart(SegmentRange a, SegmentRange b) {
  return a.high < b.low || b.high < a.low;
}
__device__ inline bool all_see(SegmentRange a, SegmentRange b) {
  return a.low == a.high && b.low == b.high && a.low == b.low;
}

}  // namespace holdfast::gpt_train
