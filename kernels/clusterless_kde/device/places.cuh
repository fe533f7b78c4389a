// SPDX-License-Identifier: Apache-2.0
// Private to optimized.cu: the second hop and the sums over spikes, each output written once, and a
// filter's summary of them. A warp owns some rows of time and some columns, and adds their spikes
// in the order of time: no atomics, and the same bits for every grid and every division into
// chunks.
#pragma once

#include "clusterless_kde/device/arguments.hpp"
#include "clusterless_kde/device/warp_product.cuh"
#include "clusterless_kde/problem/formulas.hpp"

__device__ inline float natural_log(float x) {
  return __logf(x);
}
__device__ inline double natural_log(double x) {
  return log(x);
}

// The number of `count` ascending rows that lie before each of two given ones. The whole warp
// searches 32 places at a time for both at once, so that every step waits for memory once.
struct RowsBefore {
  int first, second;
};
__device__ inline RowsBefore rows_before(const int* rows, int count, int first, int second) {
  int begin[2] = {0, 0}, left[2] = {count, count};
  const int wanted[2] = {first, second};
  while (left[0] > 0 || left[1] > 0) {
    int step[2], found[2];
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      step[i] = (left[i] + 31) / 32;
      const int at = threadIdx.x % 32 * step[i];
      found[i] = at < left[i] ? rows[begin[i] + at] : wanted[i];
    }
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int before = __popc(__ballot_sync(0xffffffffu, found[i] < wanted[i]));
      if (before > 0) begin[i] += (before - 1) * step[i] + 1;
      left[i] = before > 0 ? min(before * step[i], left[i]) - (before - 1) * step[i] - 1 : 0;
    }
  }
  return {begin[0], begin[1]};
}

// Sums of a warp's rows, one after the other; a lane has columns `column`, + 32, ...
template <class T, class V, int lane_columns>
class RowSums {
 public:
  __device__ RowSums(const kde::PlaceProduct<T, V>& a, int first_row, int column)
      : row_(first_row),
        columns_(min(lane_columns, (a.bins - column + 31) / 32)),
        bins_(a.bins),
        out_(a.out + static_cast<long long>(first_row - a.first_row) * a.bins + column) {
#pragma unroll
    for (int c = 0; c < lane_columns; ++c) {
      beta_[c] = c < columns_ ? a.beta[column + 32 * c] : T(0);
      ground_[c] = c < columns_ ? a.ground[column + 32 * c] : T(0);
    }
  }

  // Adds the first `count` of these spikes, whose rows do not precede the current one; s: their
  // sums over encoding spikes. All logarithms are computed before the first is added, so that none
  // waits for another.
  template <int most>
  __device__ void add(const int (&rows)[most], const T (&s)[most][lane_columns], int count) {
    T likelihoods[most][lane_columns];
#pragma unroll
    for (int j = 0; j < most; ++j)
#pragma unroll
      for (int c = 0; c < lane_columns; ++c)
        likelihoods[j][c] = kde::floored(natural_log(s[j][c]) + beta_[c]);
#pragma unroll
    for (int j = 0; j < most; ++j) {
      if (j >= count) break;
      reach(rows[j]);
#pragma unroll
      for (int c = 0; c < lane_columns; ++c) sums_[c] += likelihoods[j][c];
    }
  }

  // Rows before `row` are complete.
  __device__ void reach(int row) {
#pragma unroll 1
    for (; row_ < row; ++row_, out_ += bins_)
#pragma unroll
      for (int c = 0; c < lane_columns; ++c) {
        if (c < columns_) out_[32 * c] = sums_[c] - ground_[c];
        sums_[c] = 0;
      }
  }

 private:
  int row_, columns_, bins_;
  T* out_;
  T beta_[lane_columns], ground_[lane_columns], sums_[lane_columns] = {};
};

// The rows and spikes of a warp.
struct WarpRange {
  int first_row, end_row, first, end;
};
template <class T, class V>
__device__ inline WarpRange warp_range(const kde::PlaceProduct<T, V>& a, int warp) {
  WarpRange range;
  const int before = (blockIdx.x * (blockDim.x / 32) + warp) * a.rows_per_warp;
  range.first_row = min(a.first_row + before, a.end_row);
  range.end_row = min(range.first_row + a.rows_per_warp, a.end_row);
  const RowsBefore before_it =
      rows_before(a.rows + a.first, a.end - a.first, range.first_row, range.end_row);
  range.first = a.first + before_it.first;
  range.end = a.first + before_it.second;
  return range;
}

// phi's columns [first_column, + used) of node groups [group, end): [groups, bins, column_quads].
template <class V, int bins, class T>
__device__ inline void fill_slab(kde::Quad<V>* slab, const kde::PlaceProduct<T, V>& a, int group,
                                 int end, int first_column, int used) {
  const int t = threadIdx.x % 4;
  for (int of = 0; of < end - group; ++of)
    for (int column = threadIdx.x / 4; column < bins; column += blockDim.x / 4) {
      const int from = first_column + min(column, used - 1);
      kde::Quad<V>* to = slab + (of * bins + column) * kde::column_quads<V> + t;
      const kde::Quad<V>* quad =
          a.phi + ((group + of) * static_cast<long long>(a.bins) + from) * 4 + t;
#pragma unroll
      for (int part = 0; part < static_cast<int>(sizeof(kde::Quad<V>) / 16); ++part)
        holdfast::copy_async(reinterpret_cast<int4*>(to) + part,
                             reinterpret_cast<const int4*>(quad) + part);
    }
}

// The second hop: sums over nodes, their logarithms, and the sums over the spikes of a row. Grid:
// runs of rows, runs of `bins` columns. Shared memory: the slab of phi, then 16 tiles rows of S per
// warp. If phi does not fit, all warps go through its slabs together for each batch of spikes.
template <class T, class V, int bins, int tiles>
__global__ void __launch_bounds__(32 * kde::place_warps) hop_b(kde::PlaceProduct<T, V> a) {
  using Product = WarpProduct<V, tiles, bins>;
  constexpr int batch = 16 * tiles, width = kde::place_pitch(bins), mark_rows = 2 * tiles,
                ahead = 4;
  const int first_column = blockIdx.y * bins, used = min(bins, a.bins - first_column);
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  auto* slab = reinterpret_cast<kde::Quad<V>*>(shared_memory);
  T* exchange = reinterpret_cast<T*>(slab + a.slab_groups * bins * kde::column_quads<V>) +
                warp * batch * width;

  const bool whole = a.slab_groups >= a.node_groups;
  if (whole) fill_slab<V, bins>(slab, a, 0, a.node_groups, first_column, used);
  const WarpRange range = warp_range(a, warp);
  const int own_batches = (range.end - range.first + batch - 1) / batch;
  int batches = own_batches;
  if (!whole)  // the block's busiest warp decides
    for (int other = 0; other < static_cast<int>(blockDim.x / 32); ++other) {
      const WarpRange its = warp_range(a, other);
      batches = max(batches, (its.end - its.first + batch - 1) / batch);
    }

  // S at a group of nodes, loaded while the previous one is multiplied.
  T next[mark_rows][4] = {};
  const auto read = [&](int number, int group) {
    if (number >= own_batches) return;
    const int begin = range.first + number * batch, count = min(batch, range.end - begin);
    const T* at = a.sums + static_cast<long long>(begin - a.first) * a.stride + 16 * group;
#pragma unroll
    for (int r = 0; r < mark_rows; ++r) {
      const auto from = *reinterpret_cast<const kde::Quad<T>*>(
          at + (min(lane / 4 + 8 * r, count - 1) * a.stride + lane % 4 * 4));
#pragma unroll
      for (int k = 0; k < 4; ++k) next[r][k] = from.values[k];
    }
  };
  read(0, 0);
  RowSums<T, V, bins / 32> sums(a, range.first_row, first_column + lane);
  if (whole) holdfast::copies_done();
  __syncthreads();

  for (int i = 0; i < batches; ++i) {
    const int begin = range.first + i * batch, count = min(batch, range.end - begin);
    const int own_row = count > 0 ? a.rows[begin + min(lane, count - 1)] : 0;
    Product product;
    for (int group = 0; group < a.node_groups; group += a.slab_groups) {
      const int end = min(group + a.slab_groups, a.node_groups);
      if (!whole) {
        __syncthreads();  // all warps have read the previous slab
        fill_slab<V, bins>(slab, a, group, end, first_column, used);
        holdfast::copies_done();
        __syncthreads();
      }
      if (count <= 0) continue;
#pragma unroll 1
      for (int of = group; of < end; ++of) {
        T values[mark_rows][4];
#pragma unroll
        for (int j = 0; j < 4 * mark_rows; ++j) values[j / 4][j % 4] = next[j / 4][j % 4];
        const bool last = of + 1 == a.node_groups;
        read(last ? i + 1 : i, last ? 0 : of + 1);
        product.multiply(values, slab + (of - group) * bins * kde::column_quads<V>, used,
                         reinterpret_cast<kde::Quad<float>*>(exchange));
      }
    }
    if (count <= 0) continue;
    __syncwarp();
    product.each([&](int r, int column, const T(&s)[Product::adjacent]) {
      store(exchange + Product::row(r) * width + column, s);
    });
    __syncwarp();
    for (int j = 0; j < count; j += ahead) {
      T s[ahead][bins / 32];
      int rows[ahead];
#pragma unroll
      for (int k = 0; k < ahead; ++k) {
        rows[k] = __shfl_sync(0xffffffffu, own_row, j + k);
#pragma unroll
        for (int c = 0; c < bins / 32; ++c) s[k][c] = exchange[(j + k) * width + lane + 32 * c];
      }
      sums.add(rows, s, count - j);
    }
    __syncwarp();
  }
  sums.reach(range.end_row);
}

// sum_rows: the same without a second hop, from S as hop_a left it. Grid: runs of rows, runs of 64
// columns.
template <class T>
__global__ void __launch_bounds__(32 * kde::place_warps) sum_rows(kde::PlaceProduct<T, T> a) {
  constexpr int lane_columns = kde::sum_rows_columns / 32, ahead = 8;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int column = blockIdx.y * 32 * lane_columns + lane;
  const WarpRange range = warp_range(a, warp);
  RowSums<T, T, lane_columns> sums(a, range.first_row, column);
  for (int begin = range.first; begin < range.end; begin += ahead) {
    T s[ahead][lane_columns];
    int rows[ahead];
#pragma unroll
    for (int j = 0; j < ahead; ++j) {
      const int at = min(begin + j, range.end - 1);
      rows[j] = a.rows[at];
#pragma unroll
      for (int c = 0; c < lane_columns; ++c)
        s[j][c] = column + 32 * c < a.bins
                      ? a.sums[static_cast<long long>(at - a.first) * a.stride + column + 32 * c]
                      : T(1);
    }
    sums.add(rows, s, range.end - begin);
  }
  sums.reach(range.end_row);
}

// Rows first_row .. first_row + rows - 1 of the decode, out: [rows, bins] -> ln of the sum of
// exp(out) over bins, and the first of the likeliest bins. Grid: a warp per row.
template <class T>
__global__ void __launch_bounds__(32 * kde::place_warps)
    consume(const T* __restrict__ out, int first_row, int rows, int bins, T* log_sums, T* best) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  const T* values = out + static_cast<long long>(row) * bins;
  T highest = values[0];
  int at = 0;
  for (int p = lane; p < bins; p += 32)
    if (values[p] > highest) {
      highest = values[p];
      at = p;
    }
  for (int lanes = 16; lanes > 0; lanes /= 2) {
    const T other = __shfl_xor_sync(0xffffffffu, highest, lanes);
    const int its = __shfl_xor_sync(0xffffffffu, at, lanes);
    const bool take = other > highest || (other == highest && its < at);
    highest = take ? other : highest;
    at = take ? its : at;
  }
  T sum = 0;
  for (int p = lane; p < bins; p += 32) sum += exp(values[p] - highest);
  for (int lanes = 16; lanes > 0; lanes /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, lanes);
  if (lane == 0) {
    log_sums[first_row + row] = highest + log(sum);
    best[first_row + row] = static_cast<T>(at);
  }
}
