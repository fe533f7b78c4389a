// SPDX-License-Identifier: Apache-2.0
// A pass over all data: F, g and N. Against the reference: one kernel instead of nine plus p and
// library products; 8 bytes per point of traffic instead of 64 + 32 p, because neither planes nor
// residual nor Jacobian are stored; an exponential per pair of frames; over the angles of a pair,
// 15 sums of products instead of 55. Streams in the flat order have no such pairs.
#include "xpcs_fit/device/points.cuh"

// Sums over the angles of a pair: products of factors, their products with the residual, the cost.
template <class T>
struct OverAngles {
  T product[10] = {}, residual[4] = {}, cost = 0;
};

constexpr int array_weights = 1, soft_loss = 2;  // bits of a weighting

template <class T, int laminar, int weighting>
__device__ void add_point(const PointFactors<T>& of, const xpcs::AngleRow<T>& angle, T d, T w,
                          T scale, OverAngles<T>& over) {
  constexpr int factor_count = laminar ? 4 : 2;
  const T raw = angle.offset + angle.contrast * of.g;
  T r = clipped(raw) - d;
  T live = raw < T(xpcs::model_floor) || raw > T(xpcs::model_ceiling) ? T(0) : T(1);
  if (weighting & array_weights) {
    r *= w;
    live *= w;
  }
  T of_matrix = live, of_gradient = live * r, cost = r * r;
  if (weighting & soft_loss) {
    const T z = cost / (scale * scale), up = sqrt(1 + z), down = 1 / up;
    cost = 2 * scale * scale * z / (up + 1);
    of_gradient *= down;
    of_matrix *= down * sqrt(down);
  }
  over.cost += cost;
  const T factor[4] = {of.g * of_matrix, of_matrix, of.h * of_matrix, of.e * of_matrix};
  const T plain[4] = {of.g, 1, of.h, of.e};
#pragma unroll
  for (int k = 0; k < factor_count; ++k) {
    over.residual[k] += of_gradient * plain[k];
#pragma unroll
    for (int l = 0; l <= k; ++l) over.product[xpcs::packed(k, l)] += factor[k] * factor[l];
  }
}

// A pair's derivatives without the factor of the angle.
template <class T, int laminar>
__device__ void differences(const T* frames, int count, Place at, T shear, double* ours) {
  const T sign = at.i < at.j ? T(-1) : T(1);  // both integrals increase
  ours[0] = ours[1] = 1;
#pragma unroll
  for (int k = 0; k < 3; ++k) {
    const T* const by = frames + (1 + k) * count;
    ours[2 + k] = static_cast<double>(sign * (by[at.i] - by[at.j]));
  }
  if (!laminar) return;
#pragma unroll
  for (int k = 0; k < 3; ++k) {
    const T* const by = frames + (5 + k) * count;
    ours[5 + k] = static_cast<double>(sign * (by[at.i] - by[at.j]));
  }
  ours[8] = static_cast<double>(-4 * shear);
}

// Adds a pair's terms to F, g and the lower half of N. `ours`: from differences().
template <class T, int p>
__device__ __forceinline__ void add_pair(const OverAngles<T>& over, const double (&ours)[9],
                                         double (&sums)[xpcs::sum_count(p)]) {
  sums[0] += static_cast<double>(over.cost);
#pragma unroll
  for (int k = 0; k < p; ++k) {
    sums[1 + k] += static_cast<double>(over.residual[xpcs::angle_factor(k)]) * ours[k];
#pragma unroll
    for (int l = 0; l <= k; ++l) {
      const int a = xpcs::angle_factor(k), b = xpcs::angle_factor(l);
      sums[1 + p + xpcs::packed(k, l)] +=
          static_cast<double>(over.product[a > b ? xpcs::packed(a, b) : xpcs::packed(b, a)]) *
          (ours[k] * ours[l]);
    }
  }
}

// partial: [groups, blocks along x, sum_count]. A group, along y, has `group_angles` angles.
template <class T, int laminar, int weighting>
__global__ void __launch_bounds__(xpcs::pair_threads, 2)
    pass(xpcs::Grid grid, xpcs::Points<T> points, int group_angles, double loss_scale,
         const T* frames, const xpcs::AngleRow<T>* angles, double* partial) {
  constexpr int p = laminar ? 9 : 5, count = xpcs::sum_count(p);
  double sums[count] = {};
  const int first = static_cast<int>(blockIdx.y) * group_angles;
  const long long step = static_cast<long long>(gridDim.x) * xpcs::pair_threads;
  for (long long q = static_cast<long long>(blockIdx.x) * xpcs::pair_threads + threadIdx.x;
       q < points.pairs; q += step) {
    const Place at = place_of(q, points.first_row, grid.count);
    const Pair<T, laminar> pair(frames, grid.count, at);
    OverAngles<T> over;
#pragma unroll 1
    for (int a = first; a < first + group_angles; ++a) {
      const long long k = a * points.angle_pitch + q;
      const T w = weighting & array_weights ? points.weights[k] : T(1);
      add_point<T, laminar, weighting>(factors<T, laminar>(pair, angles[a]), angles[a],
                                       points.data[k], w, static_cast<T>(loss_scale), over);
    }
    double ours[9];
    differences<T, laminar>(frames, grid.count, at, pair.shear, ours);
    add_pair<T, p>(over, ours, sums);
  }
  add_up<xpcs::pair_threads>(
      sums, partial + (static_cast<long long>(blockIdx.y) * gridDim.x + blockIdx.x) * count);
}

// Points first, first + 1, .. of the flat order, each with a pair and an angle of its own, so that
// a batch may begin and end within a row: all 55 products for each. data: [many]; partial: [blocks,
// sum_count].
template <class T, int laminar>
__global__ void __launch_bounds__(xpcs::pair_threads, 2)
    flat_pass(xpcs::Grid grid, long long first, long long many, const T* data, const T* frames,
              const xpcs::AngleRow<T>* angles, double* partial) {
  constexpr int p = laminar ? 9 : 5, count = xpcs::sum_count(p);
  double sums[count] = {};
  const long long plane = static_cast<long long>(grid.count) * grid.count,
                  step = static_cast<long long>(gridDim.x) * xpcs::pair_threads;
  for (long long q = static_cast<long long>(blockIdx.x) * xpcs::pair_threads + threadIdx.x;
       q < many; q += step) {
    const long long k = first + q;
    const xpcs::AngleRow<T>& angle = angles[k / plane];
    const Place at = place_of(k % plane, 0, grid.count);
    const Pair<T, laminar> pair(frames, grid.count, at);
    OverAngles<T> over;
    add_point<T, laminar, 0>(factors<T, laminar>(pair, angle), angle, data[q], T(1), T(1), over);
    double ours[9];
    differences<T, laminar>(frames, grid.count, at, pair.shear, ours);
    add_pair<T, p>(over, ours, sums);
  }
  add_up<xpcs::pair_threads>(sums, partial + static_cast<long long>(blockIdx.x) * count);
}
