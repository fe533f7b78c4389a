// SPDX-License-Identifier: Apache-2.0
// Attention in tiles of 64 queries and 64 keys, on matrix units, without storing any shares:
// forward with a running maximum and sum, backward from the logarithms of the sums. Queries and
// keys arrive rotated, and their gradients are those of rotated ones. Every sum has a fixed order:
// results repeat bit for bit.
//
// Against the plain one (separate products, T by T scores in memory, heads repeated):
//   no array of T by T        2 B H R T^2 bytes each of scores and shares are never written
//   hidden tiles              above the diagonal or of other documents are not computed
//   three tiles in flight     asynchronous copies of two more tiles overlap the products
#include "gpt_train/device/attention_mask.cuh"

namespace gpt = holdfast::gpt_train;
using holdfast::Bf16;

// segments: [rows, T]; ranges: [rows, ceil(T / tile)]. One warp per tile.
__global__ void tile_segments(const int* segments, int columns, gpt::SegmentRange* ranges) {
  const int tiles = (columns + gpt::attention_tile - 1) / gpt::attention_tile;
  const int row = blockIdx.x / tiles, first = blockIdx.x % tiles * gpt::attention_tile;
  const int end = min(first + gpt::attention_tile, columns);
  int low = 0x7fffffff, high = -low;
  for (int i = first + threadIdx.x; i < end; i += 32) {
    const int segment = segments[static_cast<long long>(row) * columns + i];
    low = min(low, segment);
    high = max(high, segment);
  }
  for (int lanes = 16; lanes > 0; lanes /= 2) {
    low = min(low, __shfl_xor_sync(0xffffffffu, low, lanes));
    high = max(high, __shfl_xor_sync(0xffffffffu, high, lanes));
  }
  if (threadIdx.x == 0) ranges[blockIdx.x] = {low, high};
}

// o: [n, heads, head], log_sums: [B, heads, T]. One block per tile of queries, head and row of the
// batch, the longest first. A warp holds 16 queries.
template <int head>
__global__ void __launch_bounds__(gpt::attention_block)
    attend(gpt::AttentionForm form, gpt::Heads<const Bf16> in, Bf16* o, float* log_sums) {
  const int tiles = gridDim.x, own = tiles - 1 - blockIdx.x, h = blockIdx.y;
  const gpt::Place at = gpt::place_of(form, own, h, tiles);
  const int T = form.columns;
  const long long group = at.row * in.pitch + h / form.repeats * head;
  const gpt::Held held;
  const gpt::TilePair<head> seen = {in.k + group, in.v + group, in.pitch, in.pitch, T};
  gpt::fetch<head>(gpt::tile_of<head>(gpt::own_stage, 0), in.q + at.row * in.pitch + h * head,
                   in.pitch, at.first, T);
  int segments[2];
  gpt::own_segments(segments, at, held, T);

  gpt::Rows<head> q;
  float sums[head / 8][4] = {}, most[2] = {gpt::hidden_score(), gpt::hidden_score()}, total[2] = {};
  const float scale = form.scale * gpt::log2_of_e;
  gpt::stream<head>(
      gpt::keys_of(at.ranges, own), seen,
      [&](int tile) {
        const int key = min(tile * gpt::attention_tile + static_cast<int>(threadIdx.x), T - 1);
        return gpt::RowNumbers{at.segments[key], 0, 0};
      },
      [&] { q.take(gpt::tile_of<head>(gpt::own_stage, 0)); },
      [&](int stage, int tile) {
        float scores[8][4] = {};
        gpt::add_scores(scores, q, gpt::tile_of<head>(stage, 0), 0);
        if (tile == own || !gpt::all_see(at.ranges[tile], at.ranges[own]))
          gpt::hide_keys(scores, held, at.first, tile * gpt::attention_tile, 0, segments,
                         gpt::numbers_of<head>(stage));
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          float highest = most[half];
#pragma unroll
          for (int j = 0; j < 8; ++j)
            highest = fmaxf(highest, fmaxf(scores[j][2 * half], scores[j][2 * half + 1]));
          highest = gpt::highest_of_row(highest);
          const float base = highest == gpt::hidden_score() ? 0 : highest * scale;
          const float shrunk = holdfast::exp2_approximate(most[half] * scale - base);
          most[half] = highest;
          total[half] *= shrunk;
#pragma unroll
          for (int j = 0; j < head / 8; ++j)
            sums[j][2 * half] *= shrunk, sums[j][2 * half + 1] *= shrunk;
#pragma unroll
          for (int j = 0; j < 8; ++j)
#pragma unroll
            for (int i = 2 * half; i < 2 * half + 2; ++i) {
              scores[j][i] = holdfast::exp2_approximate(scores[j][i] * scale - base);
              total[half] += scores[j][i];
            }
        }
#pragma unroll
        for (int j = 0; j < 8; j += 2) {
          unsigned shares[4];
          gpt::as_operand(shares, scores[j], scores[j + 1]);
          gpt::add_rows<head>(sums, shares, gpt::tile_of<head>(stage, 1), 8 * j);
        }
      });

  for (int half = 0; half < 2; ++half) {
    total[half] = gpt::sum_of_row(total[half]);
    const int row = at.first + held.row + 8 * half;
    if (held.column == 0 && row < T)
      log_sums[at.numbers + row] = (most[half] * scale + log2f(total[half])) / gpt::log2_of_e;
  }
  gpt::put_rows<head>(o + at.row * form.out_pitch + h * head, form.out_pitch, at.first, T, held,
                      sums, 1 / total[0], 1 / total[1]);
}

#include "gpt_train/device/attention_back.cu"
