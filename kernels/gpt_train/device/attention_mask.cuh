// SPDX-License-Identifier: Apache-2.0
// The place of a block of an attention kernel, and which positions see each other.
#pragma once

#include "gpt_train/device/attention_stream.cuh"

namespace holdfast::gpt_train {

inline constexpr float log2_of_e = 1.44269504088896341f;

// The score of a hidden pair: minus infinity.
__device__ inline float hidden_score() {
  return -__int_as_float(0x7f800000);
}

// A block's place in one row of the batch, for one head.
struct Place {
  int first;               // of the block's own tile
  long long row, numbers;  // of the row's first position, in [B, T] and in [B, heads, T]
  const int* segments;
  const SegmentRange* ranges;
};
__device__ inline Place place_of(const AttentionForm& form, int own, int head, int tiles) {
  const long long b = blockIdx.z;
  return {own * attention_tile, b * form.columns, (b * form.heads + head) * form.columns,
          form.segments + b * form.columns, form.ranges + b * tiles};
}

// Hides scores of keys from `key` on, held in rows of queries: keys after the query, and of another
// segment.
template <int count>
__device__ inline void hide_keys(float (&scores)[count][4], Held held, int first_query,
                                 int first_key, int key, const int (&own)[2],
                                 const RowNumbers* numbers) {
#pragma unroll
  for (int j = 0; j < count; ++j)
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int column = key + 8 * j + held.column + i % 2, row = held.row + i / 2 * 8;
      if (!sees(first_query + row, own[i / 2], first_key + column, numbers[column].segment))
        scores[j][i] = hidden_score();
    }
}

// The same, held in rows of keys: hides queries before the key, of another segment, beyond the end.
template <int count>
__device__ inline void hide_queries(float (&scores)[count][4], Held held, int first_key,
                                    int first_query, int query, const int (&own)[2],
                                    const RowNumbers* numbers, int columns) {
#pragma unroll
  for (int j = 0; j < count; ++j)
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int column = query + 8 * j + held.column + i % 2, row = held.row + i / 2 * 8;
      if (first_query + column >= columns ||
          !sees(first_query + column, numbers[column].segment, first_key + row, own[i / 2]))
        scores[j][i] = hidden_score();
    }
}

// The segments of the two rows of a tile that a thread holds.
__device__ inline void own_segments(int (&own)[2], const Place& at, Held held, int columns) {
  for (int half = 0; half < 2; ++half)
    own[half] = at.segments[min(at.first + held.row + 8 * half, columns - 1)];
}

}  // namespace holdfast::gpt_train
