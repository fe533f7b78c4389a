// SPDX-License-Identifier: Apache-2.0
// The loop of an attention kernel's block over tiles: the tiles it must see, and a ring in shared
// memory that copies two more while one is used.
#pragma once

#include "gpt_train/device/attention_tiles.cuh"

extern __shared__ uint4 attention_memory[];

namespace holdfast::gpt_train {

// A tile of the ring: two per stage, and the block's own two after the last stage.
template <int head>
__device__ inline uint4* tile_of(int stage, int which) {
  return attention_memory + (2 * stage + which) * Tile<head>::words;
}
inline constexpr int own_stage = attention_stages;

// Tiles copied in pairs: keys and values, or queries and the gradient of their output.
template <int head>
struct TilePair {
  const Bf16 *one, *other;  // of `rows` rows each
  int one_pitch, other_pitch, rows;

  __device__ void operator()(int stage, int tile) const {
    fetch<head>(tile_of<head>(stage, 0), one, one_pitch, tile * attention_tile, rows);
    fetch<head>(tile_of<head>(stage, 1), other, other_pitch, tile * attention_tile, rows);
  }
};

// Numbers for a row of a stage: its segment and, for queries, the logarithm of the sum (to base 2)
// and the product of o with its gradient.
struct RowNumbers {
  int segment;
  float log_sum, whole;
};
template <int head>
__device__ inline RowNumbers* numbers_of(int stage) {
  return reinterpret_cast<RowNumbers*>(tile_of<head>(own_stage + 1, 0)) + stage * attention_tile;
}

// The tiles before `end` whose range of segments overlaps that of tile `own`, in order.
struct Walk {
  const SegmentRange* ranges;  // of this row of the batch
  int own, last, end;

  __device__ int next() {
    do ++last;
    while (last < end && apart(ranges[last], ranges[own]));
    return last;
  }
};
__device__ inline Walk keys_of(const SegmentRange* ranges, int own) {
  return {ranges, own, -1, own + 1};
}
__device__ inline Walk queries_of(const SegmentRange* ranges, int own, int tiles) {
  return {ranges, own, own - 1, tiles};
}

// Calls begin() once the block's own tiles, whose copies were started before, have arrived, then
// use(stage, tile) for each tile of the walk. fetch(stage, tile) starts to copy a tile; row(tile)
// reads the numbers that this thread brings for it, one row each.
template <int head, class Fetch, class Row, class Begin, class Use>
__device__ inline void stream(Walk walk, Fetch fetch, Row row, Begin begin, Use use) {
  constexpr int ahead = attention_stages - 1;
  const bool brings = threadIdx.x < attention_tile;
  int coming[ahead] = {};
#pragma unroll 1
  for (int i = -ahead, free = 0;; ++i, free = (free + 1) % attention_stages) {
    const int tile = coming[0];
    if (i >= 0) {
      if (tile >= walk.end) break;
      copies_done_but<ahead - 1>();
      __syncthreads();
      if (i == 0) begin();
    }
    const int next = walk.next();
    const bool more = next < walk.end;
#pragma unroll
    for (int later = 1; later < ahead; ++later) coming[later - 1] = coming[later];
    coming[ahead - 1] = next;
    RowNumbers brought = {};
    if (more) {
      fetch(free, next);
      if (brings) brought = row(next);
    }
    close_copies();
    if (i >= 0) use((free + 1) % attention_stages, tile);
    if (more && brings) numbers_of<head>(free)[threadIdx.x] = brought;
  }
  copies_done();
}

}  // namespace holdfast::gpt_train
