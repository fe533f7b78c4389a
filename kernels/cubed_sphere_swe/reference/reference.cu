// SPDX-License-Identifier: Apache-2.0
// The published program's formulation, one kernel per array update: operators are dense (their
// products are the library's, or `gemm`), every border and every corner is written by its own
// launch.
#include "cubed_sphere_swe/problem/formulas.hpp"
#include "cubed_sphere_swe/problem/mass_sum.hpp"

namespace swe = holdfast::cubed_sphere_swe;

__device__ inline int global_index() {
  return blockIdx.x * blockDim.x + threadIdx.x;
}

// to[own + k own_stride] = mean of both copies of the border point k. from, to: h [6, n+1, n+1].
template <class T>
__global__ void project_edge(const T* from, T* to, int own, int own_stride, int other,
                             int other_stride, int count) {
  const int k = global_index();
  if (k < count)
    to[own + k * own_stride] = (from[own + k * own_stride] + from[other + k * other_stride]) / 2;
}

// One thread. The copies of a corner are in the order of their panels; `own` is the one written.
template <class T>
__global__ void project_corner(const T* from, T* to, int own, int first, int second, int third) {
  to[own] = swe::corner_mean(from[first], from[second], from[third]);
}

// values *= factors, the same factors [per_panel] on every panel.
template <class T>
__global__ void multiply(const T* factors, T* values, int per_panel, int count) {
  const int at = global_index();
  if (at < count) values[at] *= factors[at % per_panel];
}

// v^1 = Q11 v1 + interpolated / J, at v1 points; likewise v^2. diagonal (Q11 or Q22), j:
// [per_panel].
template <class T>
__global__ void contravariant(const T* covariant, const T* interpolated, const T* diagonal,
                              const T* j, T* raised, int per_panel, int count) {
  const int at = global_index();
  if (at < count) {
    const int point = at % per_panel;
    raised[at] = diagonal[point] * covariant[at] + interpolated[at] / j[point];
  }
}

// u = J v. j: [per_panel].
template <class T>
__global__ void mass_flux(const T* j, const T* raised, T* flux, int per_panel, int count) {
  const int at = global_index();
  if (at < count) flux[at] = j[at % per_panel] * raised[at];
}

// divergence <- -(H0/J) divergence. j: [per_panel].
template <class T>
__global__ void height_tendency(const T* j, T* divergence, int per_panel, int count) {
  const int at = global_index();
  if (at < count) divergence[at] *= -T(swe::mean_depth) / j[at % per_panel];
}

// line[k] = sum over m < terms of weights[k weights_pitch + m] field[k point_stride + m
// term_stride]. Block: POINTS x PARTS threads; each thread adds up one of PARTS partial sums of its
// result.
template <class T>
__global__ void contract(const T* weights, const T* field, T* line, int weights_pitch,
                         int point_stride, int term_stride, int terms, int count) {
  __shared__ T partial[PARTS][POINTS];
  const int k = blockIdx.x * POINTS + threadIdx.x;
  T sum = 0;
  if (k < count)
    for (int m = threadIdx.y; m < terms; m += PARTS)
      sum += weights[k * weights_pitch + m] * field[k * point_stride + m * term_stride];
  partial[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.y == 0 && k < count) {
    for (int part = 1; part < PARTS; ++part) sum += partial[part][threadIdx.x];
    line[k] = sum;
  }
}

// The Cartesian border velocity of one side of an edge at its point k. Sides: N, E, S, W.
template <class T>
__device__ swe::Vector<T> side_velocity(const T* tangents, const T* distances, const T* normal,
                                        const T* tangential, int panel, int side, int k, int n,
                                        T q12_sign) {
  const T end = tangents[side < 2 ? n : 0], along = tangents[k];
  const bool normal_is_x1 = side % 2 == 1;
  const T d = distances[(side < 2 ? n : 0) * (n + 1) + k];  // symmetric in x1 and x2
  return normal_is_x1 ? swe::velocity(panel, end, along, d, q12_sign, normal[k], tangential[k])
                      : swe::velocity(panel, along, end, d, q12_sign, tangential[k], normal[k]);
}

// F* of one edge, in A's frame: the Cartesian mean of both sides' velocities. tangents: tan x at
// vertices [n+1]; distances: sqrt(1 + t1^2 + t2^2) at vertices [n+1, n+1]; lines [n+1], each in its
// own side's order.
template <class T>
__global__ void consensus(const T* tangents, const T* distances, const T* normal_a,
                          const T* tangential_a, const T* normal_b, const T* tangential_b, T* flux,
                          int panel_a, int side_a, int panel_b, int side_b, int reversed, int n,
                          T q12_sign) {
  const int k = global_index();
  if (k > n) return;
  const T end = tangents[side_a < 2 ? n : 0], along = tangents[k];
  const bool normal_is_x1 = side_a % 2 == 1;
  flux[k] = swe::consensus_flux(
      panel_a, normal_is_x1, normal_is_x1 ? end : along, normal_is_x1 ? along : end,
      distances[(side_a < 2 ? n : 0) * (n + 1) + k], q12_sign,
      side_velocity(tangents, distances, normal_a, tangential_a, panel_a, side_a, k, n, q12_sign),
      side_velocity(tangents, distances, normal_b, tangential_b, panel_b, side_b,
                    reversed ? n - k : k, n, q12_sign));
}

// divergence at the border += factor (own flux + sign F*); F* is read from `first_flux` with stride
// `flux_step`.
template <class T>
__global__ void penalise(const T* own_flux, const T* flux, T* divergence, int border,
                         int border_stride, int first_flux, int flux_step, T sign, T factor,
                         int count) {
  const int k = global_index();
  if (k < count)
    divergence[border + k * border_stride] +=
        factor * (own_flux[k] + sign * flux[first_flux + k * flux_step]);
}

// out = y + c k.
template <class T>
__global__ void advance(const T* y, const T* k, T* out, T c, int count) {
  const int at = global_index();
  if (at < count) out[at] = y[at] + c * k[at];
}

// y += c (k1 + 2 k2 + 2 k3 + k4).
template <class T>
__global__ void combine(const T* k1, const T* k2, const T* k3, const T* k4, T* y, T c, int count) {
  const int at = global_index();
  if (at < count) y[at] += c * (k1[at] + 2 * k2[at] + 2 * k3[at] + k4[at]);
}

// c = scale a op(b) + keep c for one problem per blockIdx.z, `*_step` values apart; a: [rows,
// terms], b: [terms, columns] or, transposed, [columns, terms], c: [rows, columns]. A block
// computes GEMM_TILE squared values of c, each thread `side` squared of them, GEMM_DEPTH terms at a
// time.
template <class T>
__global__ void __launch_bounds__(GEMM_THREADS, 3)
    gemm(const T* a, const T* b, T* c, int rows, int columns, int terms, int transposed,
         long long a_step, long long b_step, long long c_step, T scale, T keep) {
  constexpr int per_axis = 16, side = GEMM_TILE / per_axis;
  constexpr int loads = GEMM_TILE * GEMM_DEPTH / GEMM_THREADS;
  static_assert(per_axis * per_axis == GEMM_THREADS && GEMM_TILE % per_axis == 0, "square blocks");
  static_assert(GEMM_TILE * GEMM_DEPTH % GEMM_THREADS == 0, "whole loads");
  __shared__ T a_part[GEMM_DEPTH][GEMM_TILE + 1];  // one more: columns fall into different banks
  __shared__ T b_part[GEMM_DEPTH][GEMM_TILE + 1];
  a += blockIdx.z * a_step;
  b += blockIdx.z * b_step;
  c += blockIdx.z * c_step;
  const int first_row = blockIdx.y * GEMM_TILE, first_column = blockIdx.x * GEMM_TILE;
  const int x = threadIdx.x % per_axis, y = threadIdx.x / per_axis;

  T sums[side][side] = {};
  for (int first = 0; first < terms; first += GEMM_DEPTH) {
#pragma unroll
    for (int k = 0; k < loads; ++k) {
      const int at = threadIdx.x + k * GEMM_THREADS;
      // Consecutive threads read consecutive values: along the terms, or along the columns of b.
      const int term = at % GEMM_DEPTH, line = at / GEMM_DEPTH;
      const int row = first_row + line;
      a_part[term][line] =
          row < rows && first + term < terms ? a[row * terms + first + term] : T(0);
      const int b_term = transposed ? term : at / GEMM_TILE;
      const int b_line = transposed ? line : at % GEMM_TILE;
      const int column = first_column + b_line, depth = first + b_term;
      b_part[b_term][b_line] =
          column < columns && depth < terms
              ? b[transposed ? column * terms + depth : depth * columns + column]
              : T(0);
    }
    __syncthreads();
#pragma unroll
    for (int term = 0; term < GEMM_DEPTH; ++term) {
      T from_a[side], from_b[side];
#pragma unroll
      for (int k = 0; k < side; ++k) {
        from_a[k] = a_part[term][y + k * per_axis];
        from_b[k] = b_part[term][x + k * per_axis];
      }
#pragma unroll
      for (int i = 0; i < side; ++i)
#pragma unroll
        for (int j = 0; j < side; ++j) sums[i][j] += from_a[i] * from_b[j];
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < side; ++i)
#pragma unroll
    for (int j = 0; j < side; ++j) {
      const int row = first_row + y + i * per_axis, column = first_column + x + j * per_axis;
      if (row >= rows || column >= columns) continue;
      T& value = c[row * columns + column];
      value = keep == 0 ? scale * sums[i][j] : scale * sums[i][j] + keep * value;
    }
}

// The mass of a state. h: [6, n+1, n+1]; j: [n+1, n+1]. Block: MASS_THREADS.
template <class T>
__global__ void mass(const T* h, const T* j_factors, swe::MassHistory history, int n) {
  const int m = n + 1;
  swe::record_mass<MASS_THREADS>(history, 6 * m * m, [&](int k) {
    return swe::mass_at(h[k], j_factors[k % (m * m)], k / m % m, k % m, n);
  });
}
