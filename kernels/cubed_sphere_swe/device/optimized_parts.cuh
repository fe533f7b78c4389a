// SPDX-License-Identifier: Apache-2.0
// Private to optimized.cu: the parts of a tendency, each as one kernel. `stage` fuses them all;
// these show the cost of each alone.
#pragma once

#include "cubed_sphere_swe/device/optimized_stage.cuh"

// A thread's vertex or centre (i, j) of its panel. Grid: x2, x1, panels; block: two axes.
struct GridPoint {
  int panel = blockIdx.z;
  int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
};

// Row `row` of operator `which` (0 dcv, 1 dvc, 2 pcv, 3 pvc) applied to a line of values that are
// `pitch` apart.
template <class T>
__device__ inline T apply_operator_row(int which, int row, int n, const T* line, int pitch) {
  const bool to_vertices = which % 2 == 0;
  const int row_class = to_vertices ? swe::cv_class(row, n) : swe::vc_class(row, n);
  const T* taps = line + (to_vertices ? swe::cv_start(row, n) : swe::vc_start(row, n)) * pitch;
  switch (which) {
    case 0:
      return apply(operators<T>.dcv, row_class, taps, pitch);
    case 1:
      return apply(operators<T>.dvc, row_class, taps, pitch);
    case 2:
      return apply(operators<T>.pcv, row_class, taps, pitch);
    default:
      return apply(operators<T>.pvc, row_class, taps, pitch);
  }
}

// out = scale times one operator along x1 or x2. cv: from [6, n, n+1] (x1) or [6, n+1, n] (x2) to
// [6, n+1, n+1]; vc: the other way.
template <class T>
__global__ void apply_operator(const T* field, T* out, int which, int direction, int n, T scale) {
  const auto [panel, i, j] = GridPoint();
  const int m = n + 1, out_points = which % 2 == 0 ? m : n, field_points = which % 2 == 0 ? n : m;
  const bool along_x1 = direction == 1;
  const int rows = along_x1 ? out_points : m, columns = along_x1 ? m : out_points;
  if (i >= rows || j >= columns) return;
  const int pitch = along_x1 ? m : 1;
  const T* line =
      field + panel * field_points * m + (along_x1 ? j : i * field_points);  // its first value
  out[(panel * rows + i) * columns + j] =
      scale * apply_operator_row(which, along_x1 ? i : j, n, line, pitch);
}

// dv1 [6, n, n+1], dv2 [6, n+1, n] = slope Dvc h; dv2 may be null. h: [6, n+1, n+1], projected.
template <class T>
__global__ void gradient(const T* h, T* dv1, T* dv2, int n, T slope) {
  const auto [panel, i, j] = GridPoint();
  const int m = n + 1;
  if (i >= m || j >= m) return;
  const T* mine = h + panel * m * m;
  if (i < n)
    dv1[(panel * n + i) * m + j] =
        slope * apply(operators<T>.dvc, swe::vc_class(i, n), mine + swe::vc_start(i, n) * m + j, m);
  if (dv2 && j < n)
    dv2[(panel * m + i) * n + j] =
        slope * apply(operators<T>.dvc, swe::vc_class(j, n), mine + i * m + swe::vc_start(j, n), 1);
}

// divergence [6, n+1, n+1] = scale (Dcv u1 + Dcv u2), no penalty. u1: [6, n, n+1]; u2: [6, n+1, n].
template <class T>
__global__ void divergence(const T* u1, const T* u2, T* sum, int n, T scale) {
  const auto [panel, i, j] = GridPoint();
  const int m = n + 1;
  if (i >= m || j >= m) return;
  sum[(panel * m + i) * m + j] = scale * (apply(operators<T>.dcv, swe::cv_class(i, n),
                                                u1 + (panel * n + swe::cv_start(i, n)) * m + j, m) +
                                          apply(operators<T>.dcv, swe::cv_class(j, n),
                                                u2 + (panel * m + i) * n + swe::cv_start(j, n), 1));
}

// up1 = Q11 v1 + Pvc(J Q12 Pcv v2) / J at v1 points [6, n, n+1], up2 likewise at v2 points [6, n+1,
// n]. metric: Q11 [n, n+1], 1/J [n, n+1], Q22 [n+1, n], 1/J [n+1, n], J Q12 [n+1, n+1] in a row.
// Grid: as of `stage`.
template <class T>
__global__ void __launch_bounds__(THREADS)
    contravariant(const T* v1, const T* v2, T* up1, T* up2, const T* metric, int n) {
  using W1Part = Part<tile_rows, tile_columns + gradient_reach>;
  using W2Part = Part<tile_rows + gradient_reach, tile_columns>;
  constexpr int w1_width = tile_columns + gradient_reach, w2_width = tile_columns;
  __shared__ T w1[tile_rows * w1_width];
  __shared__ T w2[(tile_rows + gradient_reach) * w2_width];

  const int m = n + 1, panel = blockIdx.z;
  const Tile tile = tile_at(panel, blockIdx.y, gridDim.y, blockIdx.x, gridDim.x, m);
  const int top = tile.top, bottom = tile.bottom, left = tile.left, right = tile.right;
  const T *q11 = metric, *inverse_j1 = q11 + n * m, *q22 = inverse_j1 + n * m,
          *inverse_j2 = q22 + m * n, *jq12 = inverse_j2 + m * n;
  v1 += panel * n * m;
  v2 += panel * m * n;
  const auto w1_at = [=](int i, int j) {
    return (i - top) * w1_width + j - left + gradient_before;
  };
  const auto w2_at = [=](int i, int j) {
    return (i - top + gradient_before) * w2_width + j - left;
  };

  const W1Part w1_part = {top, bottom, max(left - gradient_before, 0),
                          min(right + gradient_after, m)};
  const W2Part w2_part = {max(top - gradient_before, 0), min(bottom + gradient_after, m), left,
                          right};
  w1_part.each([&](int, int i, int j) {
    w1[w1_at(i, j)] = jq12[i * m + j] * apply(operators<T>.pcv, swe::cv_class(i, n),
                                              v1 + swe::cv_start(i, n) * m + j, m);
  });
  w2_part.each([&](int, int i, int j) {
    w2[w2_at(i, j)] = jq12[i * m + j] * apply(operators<T>.pcv, swe::cv_class(j, n),
                                              v2 + i * n + swe::cv_start(j, n), 1);
  });
  __syncthreads();

  const Part<tile_rows, tile_columns> tile_part = {top, bottom, left, right};
  tile_part.each([&](int, int i, int j) {
    if (i < n) {
      const int at = i * m + j;
      up1[panel * n * m + at] =
          q11[at] * v1[at] + inverse_j1[at] * apply(operators<T>.pvc, swe::vc_class(i, n),
                                                    w2 + w2_at(swe::vc_start(i, n), j), w2_width);
    }
    if (j < n) {
      const int at = i * n + j;
      up2[panel * m * n + at] =
          q22[at] * v2[at] + inverse_j2[at] * apply(operators<T>.pvc, swe::vc_class(j, n),
                                                    w1 + w1_at(i, swe::vc_start(j, n)), 1);
    }
  });
}

// Inputs of `penalise`: the velocity, the mass flux, tan x at vertices [n+1], and for each side of
// each panel [24] the side that it meets, as 4 panel + side, plus 24 if the points run in opposite
// directions.
template <class T>
struct Border {
  const T *v1, *v2, *u1, *u2, *tangents;
  const int* meets;
  int n;
};

// The three values nearest to a side in a field that is [n, n+1] across x1 or [n+1, n] across x2,
// extrapolated to point k of the side. Sides: N, E, S, W.
template <class T>
__device__ inline T extrapolated(const T* field, int side, int k, int n) {
  const int inwards = side % 2 == 1 ? n + 1 : 1;  // from one centre to the next
  const T* first = field + (side % 2 == 1 ? k : k * n) + (side < 2 ? (n - 1) * inwards : 0);
  const int step = side < 2 ? -inwards : inwards;
  return swe::extrapolate(first[0], first[step], first[2 * step]);
}

// J v^n of the border velocity at point k of a side.
template <class T>
__device__ inline T local_flux(const Border<T>& border, int panel, int side, int k) {
  const int n = border.n, m = n + 1, end = side < 2 ? n : 0;
  const bool normal_is_x1 = side % 2 == 1;
  const T *v1 = border.v1 + panel * n * m, *v2 = border.v2 + panel * m * n;
  const int row_class = swe::cv_class(k, n), start = swe::cv_start(k, n);
  const T normal = extrapolated(normal_is_x1 ? v1 : v2, side, k, n);
  const T tangential = normal_is_x1 ? apply(operators<T>.pcv, row_class, v2 + end * n + start, 1)
                                    : apply(operators<T>.pcv, row_class, v1 + start * m + end, m);
  const T across = border.tangents[end], along = border.tangents[k];
  const T d = sqrt(1 + across * across + along * along);
  return normal_is_x1 ? swe::flux(swe::metric(across, along, d, T(1)), true, normal, tangential)
                      : swe::flux(swe::metric(along, across, d, T(1)), false, tangential, normal);
}

// The penalty of one side at its point k, per unit strength. F* = (f - ss f_other) / 2 in this
// side's frame (README, identity 3), ss the product of both signs.
template <class T>
__device__ inline T side_penalty(const Border<T>& border, int panel, int side, int k) {
  const int n = border.n, m = n + 1, met = border.meets[4 * panel + side];
  const bool reversed = met >= 24;
  const int other = met % 24;
  const T sign = side < 2 ? T(1) : T(-1), other_sign = other % 4 < 2 ? T(1) : T(-1);
  const T* flux = (side % 2 == 1 ? border.u1 : border.u2) + panel * n * m;
  const T common =
      (local_flux(border, panel, side, k) -
       sign * other_sign * local_flux(border, other / 4, other % 4, reversed ? n - k : k)) /
      2;
  return -sign * (extrapolated(flux, side, k, n) - common);
}

// divergence [6, n+1, n+1] += strength times the penalties of all sides. One thread per border
// point; for a corner, the thread that has it as an end of E or W adds both sides.
template <class T>
__global__ void penalise(const T* v1, const T* v2, const T* u1, const T* u2, const T* tangents,
                         const int* meets, T* divergence, int n, T strength) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x, m = n + 1;
  if (row >= 24 * m) return;
  const int k = row % m, side = row / m % 4, panel = row / (4 * m), end = side < 2 ? n : 0;
  const bool normal_is_x1 = side % 2 == 1, corner = k == 0 || k == n;
  if (corner && !normal_is_x1) return;
  const Border<T> border = {v1, v2, u1, u2, tangents, meets, n};
  T change = side_penalty(border, panel, side, k);
  if (corner) change += side_penalty(border, panel, k == 0 ? 2 : 0, end);
  divergence[(panel * m + (normal_is_x1 ? end : k)) * m + (normal_is_x1 ? k : end)] +=
      strength * change;
}
