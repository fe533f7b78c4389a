// SPDX-License-Identifier: Apache-2.0
// Private to optimized.cu: the building blocks of its kernels. Rows of operators, parts of a panel,
// the metric, and one stage of a step on one tile.
#pragma once

#include "cubed_sphere_swe/problem/formulas.hpp"

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

// One row of an operator applied to taps with stride `pitch`. The fifth coefficient of an interior
// row is zero and its tap may lie outside the tile or the field.
template <class T, int classes>
__device__ inline T apply(const T (&table)[classes][5], int row_class, const T* taps, int pitch) {
  const T* row = table[row_class];
  const T four =
      row[0] * taps[0] + row[1] * taps[pitch] + row[2] * taps[2 * pitch] + row[3] * taps[3 * pitch];
  return row_class == classes / 2 ? four : four + row[4] * taps[4 * pitch];
}

// Row of a border point in the neighbour table, -1 for an interior point. A corner has equal rows
// under both its sides.
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

enum MetricSource { table, on_the_fly };

// The metric at a panel's points, from tables or from tangents; the same for all panels.
template <class T, MetricSource source>
struct Metric;

// J Q11 [n, n+1], J Q22 [n+1, n], J Q12 [n+1, n+1], 1/J [n+1, n+1] in a row.
template <class T>
struct Metric<T, table> {
  const T* row;
  int n;

  __device__ T jq11(int i, int j) const { return row[i * (n + 1) + j]; }
  __device__ T jq22(int i, int j) const { return row[(n + 1 + i) * n + j]; }
  __device__ T jq12(int i, int j) const { return row[(2 * n + i) * (n + 1) + j]; }
  __device__ T inverse_j(int i, int j) const { return row[(3 * n + 1 + i) * (n + 1) + j]; }
};

// tan x and 1 / (1 + tan^2 x) at vertices [n+1], tan x at centres [n], the sign of Q12, in a row.
template <class T>
struct Metric<T, on_the_fly> {
  const T* row;
  int n;

  __device__ T vertex(int i) const { return row[i]; }
  __device__ T cosine_squared(int i) const { return row[n + 1 + i]; }
  __device__ T center(int i) const { return row[2 * n + 2 + i]; }

  // (1 + t2^2) / d between vertices of one axis and centres of the other.
  __device__ T diagonal(int center_index, int vertex_index) const {
    const T t1 = center(center_index), t2 = vertex(vertex_index), s2 = 1 + t2 * t2;
    return s2 * rsqrt(s2 + t1 * t1);
  }
  __device__ T jq11(int i, int j) const { return diagonal(i, j); }
  __device__ T jq22(int i, int j) const { return diagonal(j, i); }
  __device__ T jq12(int i, int j) const {
    const T t1 = vertex(i), t2 = vertex(j);
    return row[3 * n + 2] * t1 * t2 * rsqrt(1 + t1 * t1 + t2 * t2);
  }
  __device__ T inverse_j(int i, int j) const {
    const T t1 = vertex(i), t2 = vertex(j), d2 = 1 + t1 * t1 + t2 * t2;
    return d2 * d2 * rsqrt(d2) * cosine_squared(i) * cosine_squared(j);
  }
};

// Vertices [top, bottom) x [left, right) of a panel of m x m, divided evenly into rows x columns
// tiles.
struct Tile {
  int panel, top, bottom, left, right;
};
__device__ inline Tile tile_at(int panel, int row, int rows, int column, int columns, int m) {
  return {panel, row * m / rows, (row + 1) * m / rows, column * m / columns,
          (column + 1) * m / columns};
}

// Returns the value, hidden from the optimiser: what a loop computes from it is recomputed each
// time instead of occupying registers across iterations.
__device__ inline int opaque(int value) {
  asm volatile("" : "+r"(value));
  return value;
}

// Points [first_i, end_i) x [first_j, end_j) of a panel, at most `rows` x `width`, shared among the
// block's threads. The loops are unrolled, so that an array of `count` values holds a thread's part
// in registers. `repeated`: inside a loop over tiles.
template <int rows, int width, bool repeated = false>
struct Part {
  static constexpr int count = (rows * width + THREADS - 1) / THREADS;
  int first_i, end_i, first_j, end_j;

  // visit(k, i, j) for the k-th point of this thread.
  template <class Visit>
  __device__ void each(Visit visit) const {
    const int thread = repeated ? opaque(threadIdx.x) : static_cast<int>(threadIdx.x);
#pragma unroll
    for (int k = 0; k < count; ++k) {
      const int at = thread + k * THREADS, i = first_i + at / width, j = first_j + at % width;
      if (i < end_i && j < end_j) visit(k, i, j);
    }
  }
};

enum RungeKutta { horner, classical };

// A block's shared fields of a tile: h, the velocities (later overwritten by the mass fluxes), and
// the velocities interpolated to vertices. Each with its margin.
template <class T>
struct TileFields {
  static constexpr int h_width = tile_columns + gradient_reach, u1_width = tile_columns + far_reach,
                       u2_width = tile_columns + near_reach, w1_width = tile_columns + far_reach,
                       w2_width = tile_columns;
  T h[(tile_rows + gradient_reach) * h_width];
  T u1[(tile_rows + near_reach) * u1_width];
  T u2[(tile_rows + far_reach) * u2_width];
  T w1[tile_rows * w1_width];
  T w2[(tile_rows + far_reach) * w2_width];
};

// Bounds of a tile's parts, and the position of the panel's point (i, j) in its fields. Each phase
// makes its own: what lives across a barrier costs registers.
template <class T, bool repeated>
struct TileView {
  using Fields = TileFields<T>;
  using HeightPart = Part<tile_rows + gradient_reach, tile_columns + gradient_reach, repeated>;
  using V1Part = Part<tile_rows + near_reach, tile_columns + far_reach, repeated>;
  using V2Part = Part<tile_rows + far_reach, tile_columns + near_reach, repeated>;
  using W1Part = Part<tile_rows, tile_columns + far_reach, repeated>;
  using W2Part = Part<tile_rows + far_reach, tile_columns, repeated>;
  using U1Part = Part<tile_rows + near_reach, tile_columns, repeated>;
  using U2Part = Part<tile_rows, tile_columns + near_reach, repeated>;
  using TilePart = Part<tile_rows, tile_columns, repeated>;

  Fields& fields;
  Tile tile;
  int n;
  int m = n + 1;
  int v1_begin = 6 * m * m + tile.panel * n * m;
  int v2_begin = 6 * m * m + 6 * n * m + tile.panel * m * n;

  __device__ int near_top() const { return max(tile.top - near_before, 0); }
  __device__ int near_bottom() const { return min(tile.bottom + near_after, n); }
  __device__ int near_left() const { return max(tile.left - near_before, 0); }
  __device__ int near_right() const { return min(tile.right + near_after, n); }
  __device__ int far_top() const { return max(tile.top - far_before, 0); }
  __device__ int far_bottom() const { return min(tile.bottom + far_after, m); }
  __device__ int far_left() const { return max(tile.left - far_before, 0); }
  __device__ int far_right() const { return min(tile.right + far_after, m); }

  __device__ HeightPart h_part() const {
    return {max(tile.top - gradient_before, 0), min(tile.bottom + gradient_after, m),
            max(tile.left - gradient_before, 0), min(tile.right + gradient_after, m)};
  }
  __device__ V1Part v1_part() const { return {near_top(), near_bottom(), far_left(), far_right()}; }
  __device__ V2Part v2_part() const { return {far_top(), far_bottom(), near_left(), near_right()}; }
  __device__ W1Part w1_part() const { return {tile.top, tile.bottom, far_left(), far_right()}; }
  __device__ W2Part w2_part() const { return {far_top(), far_bottom(), tile.left, tile.right}; }
  __device__ U1Part u1_part() const { return {near_top(), near_bottom(), tile.left, tile.right}; }
  __device__ U2Part u2_part() const { return {tile.top, tile.bottom, near_left(), near_right()}; }
  __device__ TilePart tile_part() const { return {tile.top, tile.bottom, tile.left, tile.right}; }

  __device__ T* h_at(int i, int j) const {
    return fields.h + (i - tile.top + gradient_before) * Fields::h_width + j - tile.left +
           gradient_before;
  }
  __device__ T* u1_at(int i, int j) const {
    return fields.u1 + (i - tile.top + near_before) * Fields::u1_width + j - tile.left + far_before;
  }
  __device__ T* u2_at(int i, int j) const {
    return fields.u2 + (i - tile.top + far_before) * Fields::u2_width + j - tile.left + near_before;
  }
  __device__ T* w1_at(int i, int j) const {
    return fields.w1 + (i - tile.top) * Fields::w1_width + j - tile.left + far_before;
  }
  __device__ T* w2_at(int i, int j) const {
    return fields.w2 + (i - tile.top + far_before) * Fields::w2_width + j - tile.left;
  }
};

// h, v1 and v2 of z with their margins.
template <class T, bool repeated>
__device__ inline void load_tile(const TileView<T, repeated>& view, const T* z,
                                 const int* neighbours) {
  using View = TileView<T, repeated>;
  T v1[View::V1Part::count], v2[View::V2Part::count], h[View::HeightPart::count];
  const int n = view.n, m = view.m;
  view.v1_part().each([&](int k, int i, int j) { v1[k] = z[view.v1_begin + i * m + j]; });
  view.v2_part().each([&](int k, int i, int j) { v2[k] = z[view.v2_begin + i * n + j]; });
  view.h_part().each(
      [&](int k, int i, int j) { h[k] = height(z, neighbours, view.tile.panel, i, j, n); });
  view.v1_part().each([&](int k, int i, int j) { *view.u1_at(i, j) = v1[k]; });
  view.v2_part().each([&](int k, int i, int j) { *view.u2_at(i, j) = v2[k]; });
  view.h_part().each([&](int k, int i, int j) { *view.h_at(i, j) = h[k]; });
}

// w1, w2: the velocities at vertices times J Q12.
template <class T, bool repeated>
__device__ inline void interpolate(const TileView<T, repeated>& view, const T* w1_factors,
                                   const T* w2_factors) {
  const int n = view.n;
  view.w1_part().each([&](int k, int i, int j) {
    *view.w1_at(i, j) =
        w1_factors[k] * apply(operators<T>.pcv, swe::cv_class(i, n),
                              view.u1_at(swe::cv_start(i, n), j), TileFields<T>::u1_width);
  });
  view.w2_part().each([&](int k, int i, int j) {
    *view.w2_at(i, j) = w2_factors[k] * apply(operators<T>.pcv, swe::cv_class(j, n),
                                              view.u2_at(i, swe::cv_start(j, n)), 1);
  });
}

// Replaces v1, v2 by u1, u2.
template <class T, bool repeated>
__device__ inline void form_fluxes(const TileView<T, repeated>& view, const T* u1_factors,
                                   const T* u2_factors) {
  const int n = view.n;
  view.u1_part().each([&](int k, int i, int j) {
    T& u = *view.u1_at(i, j);
    u = u1_factors[k] * u + apply(operators<T>.pvc, swe::vc_class(i, n),
                                  view.w2_at(swe::vc_start(i, n), j), TileFields<T>::w2_width);
  });
  view.u2_part().each([&](int k, int i, int j) {
    T& u = *view.u2_at(i, j);
    u = u2_factors[k] * u +
        apply(operators<T>.pvc, swe::vc_class(j, n), view.w1_at(i, swe::vc_start(j, n)), 1);
  });
}

// Global operands of the last phase for a thread's points.
template <class T>
struct Base {
  static constexpr int count = Part<tile_rows, tile_columns>::count;
  T inverse_j[count], h[count], v1[count], v2[count];
};

template <RungeKutta method, class T, bool repeated>
__device__ inline void update(const TileView<T, repeated>& view, const swe::StageArrays<T>& stage,
                              const Base<T>& base) {
  const int n = view.n, m = view.m;
  // Updates the point at `at` of its array, with base `from` and tendency `change`.
  const auto advance = [&](int at, T from, T change, T slope, T share) {
    stage.out[at] = from + slope * change;
    if constexpr (method == classical)
      if (stage.sum)
        stage.sum[at] = (stage.z == stage.base ? from : stage.sum[at]) + share * change;
  };
  view.tile_part().each([&](int k, int i, int j) {
    const T divergence =
        apply(operators<T>.adjoint, swe::cv_class(i, n), view.u1_at(swe::cv_start(i, n), j),
              TileFields<T>::u1_width) +
        apply(operators<T>.adjoint, swe::cv_class(j, n), view.u2_at(i, swe::cv_start(j, n)), 1);
    advance((view.tile.panel * m + i) * m + j, base.h[k], base.inverse_j[k] * divergence,
            stage.slopes.height, stage.shares.height);
    if (i < n)
      advance(view.v1_begin + i * m + j, base.v1[k],
              apply(operators<T>.dvc, swe::vc_class(i, n), view.h_at(swe::vc_start(i, n), j),
                    TileFields<T>::h_width),
              stage.slopes.velocity, stage.shares.velocity);
    if (j < n)
      advance(view.v2_begin + i * n + j, base.v2[k],
              apply(operators<T>.dvc, swe::vc_class(j, n), view.h_at(i, swe::vc_start(j, n)), 1),
              stage.slopes.velocity, stage.shares.velocity);
  });
}

// One stage on one tile. A phase's global operands are fetched ahead of the barrier before it.
// `repeated`: inside a loop. neighbours: [6 panels, 4 sides, n+1, 2].
template <class T, MetricSource source, RungeKutta method, bool repeated>
__device__ inline void stage_tile(TileFields<T>& fields, const swe::StageArrays<T>& stage,
                                  const Tile& tile, const T* metric_row, const int* neighbours,
                                  int size) {
  using View = TileView<T, repeated>;
  const int n = repeated ? opaque(size) : size;
  const Metric<T, source> metric = {metric_row, n};
  const auto view = [&] { return View{fields, tile, n}; };
  load_tile(view(), stage.z, neighbours);
  {
    T w1_factors[View::W1Part::count], w2_factors[View::W2Part::count];
    const View now = view();
    now.w1_part().each([&](int k, int i, int j) { w1_factors[k] = metric.jq12(i, j); });
    now.w2_part().each([&](int k, int i, int j) { w2_factors[k] = metric.jq12(i, j); });
    __syncthreads();
    interpolate(view(), w1_factors, w2_factors);
  }
  {
    T u1_factors[View::U1Part::count], u2_factors[View::U2Part::count];
    const View now = view();
    now.u1_part().each([&](int k, int i, int j) { u1_factors[k] = metric.jq11(i, j); });
    now.u2_part().each([&](int k, int i, int j) { u2_factors[k] = metric.jq22(i, j); });
    __syncthreads();
    form_fluxes(view(), u1_factors, u2_factors);
  }
  Base<T> base;
  const View now = view();
  now.tile_part().each([&](int k, int i, int j) {
    const T* from = stage.base;
    base.inverse_j[k] = metric.inverse_j(i, j);
    base.h[k] = from ? height(from, neighbours, now.tile.panel, i, j, n) : T(0);
    base.v1[k] = from && i < n ? from[now.v1_begin + i * now.m + j] : T(0);
    base.v2[k] = from && j < n ? from[now.v2_begin + i * n + j] : T(0);
  });
  __syncthreads();
  update<method>(view(), stage, base);
}
