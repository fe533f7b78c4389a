// SPDX-License-Identifier: Apache-2.0
// The model of a pair of frames and of its points: an exponential and a division per pair, a sine
// and a cosine per point.
#pragma once

#include "xpcs_fit/device/arguments.hpp"
#include "xpcs_fit/problem/formulas.hpp"

namespace xpcs = holdfast::xpcs_fit;

// A thread's pair: its frames, and the place of its first datum.
struct Place {
  int i = 0, j = 0;
};

__device__ inline Place place_of(long long q, int first_row, int count) {
  const int row = static_cast<int>(q / count);
  return {first_row + row, static_cast<int>(q - static_cast<long long>(row) * count)};
}

// frames: [8, count]: exponent, its three derivatives, shear, its three.
template <class T, int laminar>
struct Pair {
  T power = 0, shear = 0, inverse = 0;  // E^2, B, 1 / B

  Pair() = default;
  __device__ Pair(const T* frames, int count, Place at) {
    power = exp2(-fabs(frames[at.i] - frames[at.j]));
    if (laminar) {
      shear = fabs(frames[4 * count + at.i] - frames[4 * count + at.j]);
      inverse = 1 / shear;  // infinite on the diagonal, where a series is used instead
    }
  }
};

template <class T>
struct PointFactors {
  T g = 0, h = 0, e = 0;
};

template <class T, int laminar>
__device__ PointFactors<T> factors(const Pair<T, laminar>& pair, const xpcs::AngleRow<T>& angle) {
  if (!laminar) return {pair.power, 0, 0};
  const T x = pair.shear * angle.cosine, size = fabs(x);
  // The phase is too large for any reduction; NaN stays NaN.
  if (size > T(xpcs::largest_phase)) return {0, 0, 0};
  const auto circle = xpcs::sine_cosine(x);
  const T inverse = pair.inverse * angle.inverse;
  T value = circle.sine * inverse, slope = (circle.cosine - value) * inverse;
  if (size < T(0.1)) {
    const T y = x * x;
    value = 1 - y * (T(1. / 6) - y * (T(1. / 120) - y * (T(1. / 5040) - y * T(1. / 362880))));
    slope = xpcs::sinc_slope_near_zero(x);
  }
  const T square = value * value, less = pair.power * square, bent = less * value * slope;
  return {less * square, bent * angle.cosine, bent * angle.sine};
}

// Comparisons, since minimum and maximum would drop a NaN.
template <class T>
__device__ T clipped(T m) {
  if (m < T(xpcs::model_floor)) return T(xpcs::model_floor);
  return m > T(xpcs::model_ceiling) ? T(xpcs::model_ceiling) : m;
}

// The sums over a block of whole warps: `count` values `own` of each thread, to out[count].
template <int threads, int count>
__device__ void add_up(const double (&own)[count], double* out) {
  constexpr int warps = threads / 32;
  __shared__ double shared[warps][count];
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
#pragma unroll
  for (int k = 0; k < count; ++k) {
    double sum = own[k];
    for (int apart = 16; apart > 0; apart /= 2) sum += __shfl_down_sync(0xffffffffu, sum, apart);
    if (lane == 0) shared[warp][k] = sum;
  }
  __syncthreads();
  for (int k = static_cast<int>(threadIdx.x); k < count; k += threads) {
    double sum = 0;
    for (int its = 0; its < warps; ++its) sum += shared[its][k];
    out[k] = sum;
  }
}
