// SPDX-License-Identifier: Apache-2.0
// One kernel per Runge-Kutta stage. What changed against reference.cu and what each change should
// bring at n = 384 in f64 on an H200; all of it predicted from counts, nothing measured yet:
//   - Rows of four or five taps, not dense products: 240 MFLOP per step instead of 21.9 GFLOP,
//     7 us instead of 640 us at 34 TFLOP/s.
//   - One kernel holds a whole tendency and its update, intermediates stay in shared memory: 4
//     launches per step instead of 888, 11 states (234 MB) of traffic per step instead of about 75.
//   - Heights stay one-sided and are projected where they are read, through the neighbour table;
//     the boundary penalty is folded into the border rows of the divergence (`adjoint`): none of
//     the 816 launches per step that projected and penalised, at 1 to 2 us each.
//   - Horner form z = y + dt/m L z, m = 4, 3, 2, 1, needs no k1 .. k4: three states of memory, not
//     six.
//   - Tiles divide a panel evenly, so that none has fewer than eight rows, closures lie inside one
//     tile and the reach beyond it is that of interior rows, 3 and not 4: reads are 1.4 times the
//     compulsory ones instead of 1.9.
//   - A phase's global operands are fetched before the barrier ahead of it: one exposed memory
//     latency per stage instead of four, which counts at n <= 96.
// Floor: 234 MB per step at 4.3 TB/s, 54 us; at n <= 96 four graph nodes of about 4 us each.
#include "formulas.hpp"

namespace swe = holdfast::cubed_sphere_swe;

constexpr int tile_rows = TILE_ROWS, tile_columns = TILE_COLUMNS;
static_assert(THREADS % 32 == 0 && THREADS <= 1024, "whole warps");
static_assert(tile_rows >= 15 && tile_columns >= 15,
              "a panel divided evenly must give tiles of 8 or more");

// How far interior rows reach beyond a tile: `near` through one operator, `far` through two.
constexpr int near_before = 2, near_after = 1, near_reach = near_before + near_after;
constexpr int far_before = 3, far_after = 3, far_reach = far_before + far_after;
constexpr int gradient_before = 1, gradient_after = 2,
              gradient_reach = gradient_before + gradient_after;

template <class T>
__constant__ swe::Operators<T> operators = swe::make_operators<T>();

// One row of an operator applied to taps that are `pitch` apart. The fifth coefficient of an
// interior row is zero and its tap may lie outside the tile.
template <int pitch, class T, int classes>
__device__ inline T apply(const T (&table)[classes][5], int row_class, const T* taps) {
  const T* row = table[row_class];
  const T four =
      row[0] * taps[0] + row[1] * taps[pitch] + row[2] * taps[2 * pitch] + row[3] * taps[3 * pitch];
  return row_class == classes / 2 ? four : four + row[4] * taps[4 * pitch];
}

// Row of the neighbour table of a border point, -1 inside. A corner has equal rows under both its
// sides.
__device__ inline int border_row(int panel, int i, int j, int n) {
  const int side = i == n ? 1 : i == 0 ? 3 : j == n ? 0 : j == 0 ? 2 : -1;  // N, E, S, W
  return side < 0 ? -1 : (panel * 4 + side) * (n + 1) + (side % 2 == 1 ? j : i);
}

// A h at one point. h: [6, n+1, n+1], one-sided; neighbours: [6 panels, 4 sides, n+1, 2].
template <class T>
__device__ inline T height(const T* h, const int* neighbours, int panel, int i, int j, int n) {
  const int own = (panel * (n + 1) + i) * (n + 1) + j;
  const int row = border_row(panel, i, j, n);
  return row < 0 ? h[own] : swe::projected(h, own, neighbours[2 * row], neighbours[2 * row + 1]);
}

// Points [first_i, end_i) x [first_j, end_j) of a panel, at most `rows` x `width`, shared among the
// block's threads. The loops are unrolled, so that an array of `count` values holds a thread's part
// in registers.
template <int rows, int width>
struct Part {
  static constexpr int count = (rows * width + THREADS - 1) / THREADS;
  int first_i, end_i, first_j, end_j;

  // visit(k, i, j) for the k-th point of this thread.
  template <class Visit>
  __device__ void each(Visit visit) const {
#pragma unroll
    for (int k = 0; k < count; ++k) {
      const int at = threadIdx.x + k * THREADS, i = first_i + at / width, j = first_j + at % width;
      if (i < end_i && j < end_j) visit(k, i, j);
    }
  }
};

// out = base + L z, its slopes included: height_slope = -cf H0/dx, velocity_slope = -cf g/dx; a
// null base is zero. z, base, out: h [6, n+1, n+1], v1 [6, n, n+1] and v2 [6, n+1, n] in a row; h
// one-sided. metric: J Q11 [n, n+1], J Q22 [n+1, n], J Q12 [n+1, n+1], 1/J [n+1, n+1] in a row.
// Grid: tiles along x2, tiles along x1, panels. What a phase needs from global memory is fetched
// ahead of the barrier before it.
template <class T>
__global__ void __launch_bounds__(THREADS)
    stage(const T* __restrict__ z, const T* __restrict__ base, T* __restrict__ out,
          const T* __restrict__ metric, const int* __restrict__ neighbours, int n, T height_slope,
          T velocity_slope) {
  using HeightPart = Part<tile_rows + gradient_reach, tile_columns + gradient_reach>;
  using V1Part = Part<tile_rows + near_reach, tile_columns + far_reach>;
  using V2Part = Part<tile_rows + far_reach, tile_columns + near_reach>;
  using W1Part = Part<tile_rows, tile_columns + far_reach>;
  using W2Part = Part<tile_rows + far_reach, tile_columns>;
  using U1Part = Part<tile_rows + near_reach, tile_columns>;
  using U2Part = Part<tile_rows, tile_columns + near_reach>;
  using TilePart = Part<tile_rows, tile_columns>;
  constexpr int h_width = tile_columns + gradient_reach, u1_width = tile_columns + far_reach,
                u2_width = tile_columns + near_reach, w1_width = tile_columns + far_reach,
                w2_width = tile_columns;
  __shared__ T h[(tile_rows + gradient_reach) * h_width];
  __shared__ T u1[(tile_rows + near_reach) * u1_width];  // v1 at first
  __shared__ T u2[(tile_rows + far_reach) * u2_width];   // v2 at first
  __shared__ T w1[tile_rows * w1_width];
  __shared__ T w2[(tile_rows + far_reach) * w2_width];

  const int m = n + 1, panel = blockIdx.z;
  const int top = blockIdx.y * m / gridDim.y, bottom = (blockIdx.y + 1) * m / gridDim.y;
  const int left = blockIdx.x * m / gridDim.x, right = (blockIdx.x + 1) * m / gridDim.x;
  const int v1_begin = 6 * m * m + panel * n * m, v2_begin = 6 * m * m + 6 * n * m + panel * m * n;
  const T* jq11 = metric;
  const T* jq22 = jq11 + n * m;
  const T* jq12 = jq22 + m * n;
  const T* inverse_j = jq12 + m * m;

  // Where shared memory holds the panel's point (i, j), in the tile or its margin.
  const auto h_at = [=](int i, int j) {
    return (i - top + gradient_before) * h_width + j - left + gradient_before;
  };
  const auto u1_at = [=](int i, int j) {
    return (i - top + near_before) * u1_width + j - left + far_before;
  };
  const auto u2_at = [=](int i, int j) {
    return (i - top + far_before) * u2_width + j - left + near_before;
  };
  const auto w1_at = [=](int i, int j) { return (i - top) * w1_width + j - left + far_before; };
  const auto w2_at = [=](int i, int j) { return (i - top + far_before) * w2_width + j - left; };

  const int near_top = max(top - near_before, 0), near_bottom = min(bottom + near_after, n);
  const int near_left = max(left - near_before, 0), near_right = min(right + near_after, n);
  const int far_top = max(top - far_before, 0), far_bottom = min(bottom + far_after, m);
  const int far_left = max(left - far_before, 0), far_right = min(right + far_after, m);
  const HeightPart h_part = {max(top - gradient_before, 0), min(bottom + gradient_after, m),
                             max(left - gradient_before, 0), min(right + gradient_after, m)};
  const V1Part v1_part = {near_top, near_bottom, far_left, far_right};
  const V2Part v2_part = {far_top, far_bottom, near_left, near_right};
  const W1Part w1_part = {top, bottom, far_left, far_right};
  const W2Part w2_part = {far_top, far_bottom, left, right};
  const U1Part u1_part = {near_top, near_bottom, left, right};
  const U2Part u2_part = {top, bottom, near_left, near_right};
  const TilePart tile = {top, bottom, left, right};

  {
    T v1_values[V1Part::count], v2_values[V2Part::count], h_values[HeightPart::count];
    v1_part.each([&](int k, int i, int j) { v1_values[k] = z[v1_begin + i * m + j]; });
    v2_part.each([&](int k, int i, int j) { v2_values[k] = z[v2_begin + i * n + j]; });
    h_part.each([&](int k, int i, int j) { h_values[k] = height(z, neighbours, panel, i, j, n); });
    v1_part.each([&](int k, int i, int j) { u1[u1_at(i, j)] = v1_values[k]; });
    v2_part.each([&](int k, int i, int j) { u2[u2_at(i, j)] = v2_values[k]; });
    h_part.each([&](int k, int i, int j) { h[h_at(i, j)] = h_values[k]; });
  }
  T w1_factors[W1Part::count], w2_factors[W2Part::count];
  w1_part.each([&](int k, int i, int j) { w1_factors[k] = jq12[i * m + j]; });
  w2_part.each([&](int k, int i, int j) { w2_factors[k] = jq12[i * m + j]; });
  __syncthreads();

  w1_part.each([&](int k, int i, int j) {
    w1[w1_at(i, j)] = w1_factors[k] * apply<u1_width>(operators<T>.pcv, swe::cv_class(i, n),
                                                      u1 + u1_at(swe::cv_start(i, n), j));
  });
  w2_part.each([&](int k, int i, int j) {
    w2[w2_at(i, j)] = w2_factors[k] * apply<1>(operators<T>.pcv, swe::cv_class(j, n),
                                               u2 + u2_at(i, swe::cv_start(j, n)));
  });
  T u1_factors[U1Part::count], u2_factors[U2Part::count];
  u1_part.each([&](int k, int i, int j) { u1_factors[k] = jq11[i * m + j]; });
  u2_part.each([&](int k, int i, int j) { u2_factors[k] = jq22[i * n + j]; });
  __syncthreads();

  u1_part.each([&](int k, int i, int j) {
    T& u = u1[u1_at(i, j)];
    u = u1_factors[k] * u +
        apply<w2_width>(operators<T>.pvc, swe::vc_class(i, n), w2 + w2_at(swe::vc_start(i, n), j));
  });
  u2_part.each([&](int k, int i, int j) {
    T& u = u2[u2_at(i, j)];
    u = u2_factors[k] * u +
        apply<1>(operators<T>.pvc, swe::vc_class(j, n), w1 + w1_at(i, swe::vc_start(j, n)));
  });
  T h_factors[TilePart::count], h_base[TilePart::count], v1_base[TilePart::count],
      v2_base[TilePart::count];
  tile.each([&](int k, int i, int j) {
    h_factors[k] = height_slope * inverse_j[i * m + j];
    h_base[k] = base ? height(base, neighbours, panel, i, j, n) : T(0);
    v1_base[k] = base && i < n ? base[v1_begin + i * m + j] : T(0);
    v2_base[k] = base && j < n ? base[v2_begin + i * n + j] : T(0);
  });
  __syncthreads();

  tile.each([&](int k, int i, int j) {
    const T divergence =
        apply<u1_width>(operators<T>.adjoint, swe::cv_class(i, n),
                        u1 + u1_at(swe::cv_start(i, n), j)) +
        apply<1>(operators<T>.adjoint, swe::cv_class(j, n), u2 + u2_at(i, swe::cv_start(j, n)));
    out[(panel * m + i) * m + j] = h_base[k] + h_factors[k] * divergence;
    if (i < n)
      out[v1_begin + i * m + j] =
          v1_base[k] + velocity_slope * apply<h_width>(operators<T>.dvc, swe::vc_class(i, n),
                                                       h + h_at(swe::vc_start(i, n), j));
    if (j < n)
      out[v2_begin + i * n + j] =
          v2_base[k] + velocity_slope * apply<1>(operators<T>.dvc, swe::vc_class(j, n),
                                                 h + h_at(i, swe::vc_start(j, n)));
  });
}

// h <- A h, in place: the copy with the least index writes all of them. One thread per row of the
// neighbour table. h: [6, n+1, n+1].
template <class T>
__global__ void project(T* h, const int* neighbours, int n) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x, m = n + 1;
  if (row >= 24 * m) return;
  const int k = row % m, side = row / m % 4, panel = row / (4 * m);
  const int end = side < 2 ? n : 0;  // N, E, S, W
  const bool normal_is_x1 = side % 2 == 1;
  const int own = (panel * m + (normal_is_x1 ? end : k)) * m + (normal_is_x1 ? k : end);
  const int first = neighbours[2 * row], second = neighbours[2 * row + 1];
  const bool corner = second >= 0;
  if (own > first || (corner && !normal_is_x1))
    return;  // a corner has a row under each of its two sides
  const T mean = swe::projected(h, own, first, second);
  h[own] = mean;
  h[first] = mean;
  if (corner) h[second] = mean;
}
