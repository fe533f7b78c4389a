// SPDX-License-Identifier: Apache-2.0
// Muon's moments, the matrices orthogonalised from them, and the update by the result. For all
// matrices of one shape and all timescales at once; matrices with more rows than columns are
// transposed. A block of [tile_rows, tile_edge] threads has a square of tile_edge.
#pragma once

#include "gpt_train/device/numbers.cuh"

namespace orthogonal {

constexpr int edge = gpt::tile_edge;

// The place of a square: its first row and column in the matrix.
struct Square {
  int row, column;
};
__device__ inline Square square_of(const gpt::Member& member) {
  const int across = (member.columns + edge - 1) / edge, tile = static_cast<int>(blockIdx.x);
  return {tile / across * edge, tile % across * edge};
}

// The beginning of x for a timescale: [scales, members, rows x columns].
__device__ inline long long place_of(const gpt::Member& member, int scale, int members) {
  return (static_cast<long long>(scale) * members + blockIdx.y) * member.rows * member.columns;
}

}  // namespace orthogonal

// m = gain g + beta m, x = (1 - beta) g + beta m; squares [scales, members, tiles]: sums of x^2.
__global__ void go_on(const gpt::Schedule* schedule, gpt::Timescales scales, const gpt::Member* all,
                      const Bf16* gradient, float* moments, long long moment_size, Bf16* x,
                      float* squares) {
  __shared__ float tile[orthogonal::edge][orthogonal::edge + 1];
  const gpt::Member member = all[blockIdx.y];
  const int members = static_cast<int>(gridDim.y);
  const orthogonal::Square at = orthogonal::square_of(member);
  const int column = static_cast<int>(threadIdx.x);
  for (int scale = 0; scale < scales.count; ++scale) {
    const float beta = scales.beta[scale], gain = schedule->gain[scale];
    Bf16* const out = x + orthogonal::place_of(member, scale, members);
    float own = 0;
    for (int row = static_cast<int>(threadIdx.y); row < orthogonal::edge; row += gpt::tile_rows) {
      const int i = at.row + row, j = at.column + column;
      float value = 0;
      if (i < member.rows && j < member.columns) {
        const long long k = member.offset + static_cast<long long>(i) * member.pitch + j;
        const float g = widened(gradient[k]);
        float* const m = moments + scale * moment_size + k;
        *m = gain * g + beta * *m;
        value = (1 - beta) * g + beta * *m;
        if (!member.turned) out[static_cast<long long>(i) * member.columns + j] = narrowed(value);
      }
      own += value * value;
      tile[row][column] = value;
    }
    __syncthreads();
    if (member.turned)
      for (int row = static_cast<int>(threadIdx.y); row < orthogonal::edge; row += gpt::tile_rows) {
        const int i = at.row + column, j = at.column + row;
        if (i < member.rows && j < member.columns)
          out[static_cast<long long>(j) * member.rows + i] = narrowed(tile[column][row]);
      }
    __syncthreads();
    own = warp_sum(own);
    if (column == 0) tile[0][threadIdx.y] = own;
    __syncthreads();
    if (column == 0 && threadIdx.y == 0) {
      float sum = 0;
      for (int row = 0; row < gpt::tile_rows; ++row) sum += tile[0][row];
      squares[(static_cast<long long>(scale) * members + blockIdx.y) * gridDim.x + blockIdx.x] =
          sum;
    }
    __syncthreads();
  }
}

// One block per matrix: 1 / (norm + epsilon).
__global__ void invert_norms(const float* squares, int tiles, float epsilon, float* inverse) {
  float sum = 0;
  for (int k = static_cast<int>(threadIdx.x); k < tiles; k += gpt::sum_threads)
    sum += squares[static_cast<long long>(blockIdx.x) * tiles + k];
  sum = block_sum<gpt::sum_threads>(sum);
  if (threadIdx.x == 0) inverse[blockIdx.x] = 1 / (sqrtf(sum) + epsilon);
}

// Each matrix of `each` numbers, a multiple of eight, times its inverse norm.
__global__ void scale_all(const float* inverse, long long each, Bf16* x) {
  const long long k = 8 * thread_of_grid();
  if (k >= each) return;
  Bf16* const at = x + blockIdx.y * each + k;
  Eight own = load8(at);
#pragma unroll
  for (int i = 0; i < 8; ++i) own.of[i] *= inverse[blockIdx.y];
  store8(at, own);
}

// p -= rate stretch (sum of weight x + decay p).
__global__ void apply(const gpt::Schedule* schedule, gpt::Timescales scales, const gpt::Member* all,
                      float decay, const Bf16* x, float* parameter, Bf16* copy) {
  __shared__ float tile[orthogonal::edge][orthogonal::edge + 1];
  const gpt::Member member = all[blockIdx.y];
  const int members = static_cast<int>(gridDim.y);
  const orthogonal::Square at = orthogonal::square_of(member);
  const int column = static_cast<int>(threadIdx.x);
  const float rate = schedule->muon * member.stretch;
  if (member.turned) {
    for (int row = static_cast<int>(threadIdx.y); row < orthogonal::edge; row += gpt::tile_rows) {
      const int i = at.row + column, j = at.column + row;
      float sum = 0;
      for (int scale = 0; scale < scales.count; ++scale)
        if (i < member.rows && j < member.columns)
          sum += scales.weight[scale] * widened(x[orthogonal::place_of(member, scale, members) +
                                                  static_cast<long long>(j) * member.rows + i]);
      tile[column][row] = sum;
    }
    __syncthreads();
  }
  for (int row = static_cast<int>(threadIdx.y); row < orthogonal::edge; row += gpt::tile_rows) {
    const int i = at.row + row, j = at.column + column;
    if (i >= member.rows || j >= member.columns) continue;
    float sum = 0;
    if (member.turned)
      sum = tile[row][column];
    else
      for (int scale = 0; scale < scales.count; ++scale)
        sum += scales.weight[scale] * widened(x[orthogonal::place_of(member, scale, members) +
                                                static_cast<long long>(i) * member.columns + j]);
    const long long k = member.offset + static_cast<long long>(i) * member.pitch + j;
    const float next = parameter[k] - rate * (sum + decay * parameter[k]);
    parameter[k] = next;
    copy[k] = narrowed(next);
  }
}
