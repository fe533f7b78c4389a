// SPDX-License-Identifier: Apache-2.0
// A model's operations between its products, on the way back.
//
// On an H200, for 2048 rows of 1024, a norm took 37.3 us with blocks of 32 rows and one row in
// flight: 12 % of a pass of llama3-150m. For 8 rows and four in flight 9 us were predicted, and 2
// more for sum_rows. It takes 9.0, sum_rows 3.0 instead of 1.4, a pass 5.25 ms instead of 5.67.
// More rows were not measured; for 16384 sum_rows has 2048 parts.
#pragma once

#include "gpt_train/device/numbers.cuh"

// From up | gate and the gradient of h: their gradients, and h again for the product that needs it.
__global__ void gated_backward(const Bf16* both, const Bf16* dh, long long rows, int inner,
                               Bf16* d_both, Bf16* h) {
  const long long k = 8 * thread_of_grid();
  if (k >= rows * inner) return;
  const long long row = k / inner, at = row * 2 * inner + k - row * inner;
  Eight u = load8(both + at), a = load8(both + at + inner), d = load8(dh + k), product;
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const float s = 1 / (1 + __expf(-a.of[i])), silu = a.of[i] * s, up = u.of[i];
    product.of[i] = up * silu;
    u.of[i] = d.of[i] * silu;
    a.of[i] = d.of[i] * up * s * (1 + a.of[i] * (1 - s));
  }
  store8(d_both + at, u);
  store8(d_both + at + inner, a);
  store8(h + k, product);
}

// dx = r (w - xh mean(w xh)), w = dy g, xh = x r, added to dx if `adds`; y = xh g again, unless it
// is null; partial [blocks, d]: sums over the block's rows of dy xh. Four rows are in flight at a
// time.
__global__ void norm_backward(const Bf16* x, const Bf16* g, const float* inverse, const Bf16* dy,
                              int rows, int d, int adds, Bf16* dx, Bf16* y, float* partial) {
  constexpr int together = 4;
  __shared__ float means[gpt::back_rows], roots[gpt::back_rows];
  const int first = static_cast<int>(blockIdx.x) * gpt::back_rows;
  const int own = min(gpt::back_rows, rows - first);
  const int warp = static_cast<int>(threadIdx.x / 32), lane = static_cast<int>(threadIdx.x % 32);
  if (warp < own) {
    const long long row = static_cast<long long>(first + warp) * d;
    float sum = 0;
    for (int j = 8 * lane; j < d; j += 256) {
      const Eight of_x = load8(x + row + j), of_g = load8(g + j), of_dy = load8(dy + row + j);
#pragma unroll
      for (int i = 0; i < 8; ++i) sum += of_dy.of[i] * of_g.of[i] * of_x.of[i];
    }
    sum = warp_sum(sum);
    if (lane == 0) {
      roots[warp] = inverse[first + warp];
      means[warp] = sum * roots[warp] / static_cast<float>(d);
    }
  }
  __syncthreads();
  for (int j = 2 * static_cast<int>(threadIdx.x); j < d; j += 2 * gpt::norm_threads) {
    const unsigned by = *reinterpret_cast<const unsigned*>(g + j);
    float sums[2] = {};
    for (int begin = 0; begin < own; begin += together) {
      unsigned of_x[together] = {}, of_dy[together] = {}, before[together] = {};
#pragma unroll
      for (int k = 0; k < together; ++k) {
        if (begin + k >= own) break;
        const long long at = static_cast<long long>(first + begin + k) * d + j;
        of_x[k] = *reinterpret_cast<const unsigned*>(x + at);
        of_dy[k] = *reinterpret_cast<const unsigned*>(dy + at);
        if (adds) before[k] = *reinterpret_cast<const unsigned*>(dx + at);
      }
#pragma unroll
      for (int k = 0; k < together; ++k) {
        if (begin + k >= own) break;
        const long long at = static_cast<long long>(first + begin + k) * d + j;
        const float r = roots[begin + k], mean = means[begin + k];
        const float low = low_of(of_x[k]) * r, high = high_of(of_x[k]) * r;
        *reinterpret_cast<unsigned*>(dx + at) =
            pair_of(low_of(before[k]) + r * (low_of(of_dy[k]) * low_of(by) - low * mean),
                    high_of(before[k]) + r * (high_of(of_dy[k]) * high_of(by) - high * mean));
        if (y) *reinterpret_cast<unsigned*>(y + at) = pair_of(low * low_of(by), high * high_of(by));
        sums[0] += low_of(of_dy[k]) * low;
        sums[1] += high_of(of_dy[k]) * high;
      }
    }
    *reinterpret_cast<float2*>(partial + static_cast<long long>(blockIdx.x) * d + j) =
        make_float2(sums[0], sums[1]);
  }
}

// dg = sums over the rows of partial [parts, d]; a block of [tile_rows, tile_edge] threads sums
// tile_edge columns.
__global__ void sum_rows(const float* partial, int parts, int d, float* dg) {
  __shared__ float sums[gpt::tile_rows][gpt::tile_edge];
  const int column = static_cast<int>(blockIdx.x * gpt::tile_edge + threadIdx.x);
  float sum = 0;
  if (column < d)
    for (int row = static_cast<int>(threadIdx.y); row < parts; row += gpt::tile_rows)
      sum += partial[static_cast<long long>(row) * d + column];
  sums[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.y > 0 || column >= d) return;
#pragma unroll
  for (int row = 1; row < gpt::tile_rows; ++row) sum += sums[row][threadIdx.x];
  dg[column] = sum;
}

// dE[t] = sum of dx over the positions with token t, in their order. One warp per position of
// `order` and 64 columns; it goes on if a run of equal tokens begins there.
__global__ void embed_backward(gpt::Inputs in, const Bf16* dx, int d, float* de) {
  const int begin = static_cast<int>(thread_of_grid() / 32);
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int column = static_cast<int>(blockIdx.y) * 64 + 2 * lane;
  if (begin >= in.count) return;
  const int token = in.tokens[in.order[begin]];
  if (begin > 0 && in.tokens[in.order[begin - 1]] == token) return;
  float low = 0, high = 0;
  for (int next = begin;; next += 32) {
    const int mine = next + lane < in.count ? in.order[next + lane] : -1;
    const unsigned same = __ballot_sync(0xffffffffu, mine >= 0 && in.tokens[max(mine, 0)] == token);
    const int members = __popc(same);
    for (int k = 0; k < members; ++k) {
      const long long row = __shfl_sync(0xffffffffu, mine, k);
      if (column >= d) continue;
      const unsigned of = *reinterpret_cast<const unsigned*>(dx + row * d + column);
      low += low_of(of);
      high += high_of(of);
    }
    if (members < 32) break;
  }
  if (column < d)
    *reinterpret_cast<float2*>(de + static_cast<long long>(token) * d + column) =
        make_float2(low, high);
}
