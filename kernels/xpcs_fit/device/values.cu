// SPDX-License-Identifier: Apache-2.0
// The model and the residual, a value per point, as whole arrays. Against the reference: one kernel
// instead of eight or nine, 8 or 16 bytes per point of traffic instead of 80, an exponential per
// pair of frames and not per point.
#include "xpcs_fit/device/points.cuh"

// out: [angles, pairs]. One thread per pair and turn, with all its angles.
template <class T, int laminar>
__global__ void model_values(xpcs::Grid grid, xpcs::Points<T> points, const T* frames,
                             const xpcs::AngleRow<T>* angles, T* out) {
  const long long step = static_cast<long long>(gridDim.x) * xpcs::pair_threads;
  for (long long q = static_cast<long long>(blockIdx.x) * xpcs::pair_threads + threadIdx.x;
       q < points.pairs; q += step) {
    const Pair<T, laminar> pair(frames, grid.count, place_of(q, points.first_row, grid.count));
    for (int a = 0; a < grid.angles; ++a)
      out[a * points.angle_pitch + q] =
          clipped(angles[a].offset + angles[a].contrast * factors<T, laminar>(pair, angles[a]).g);
  }
}

// The model minus the data; the sum of a block's squared residuals to partial[block].
template <class T, int laminar>
__global__ void residuals(xpcs::Grid grid, xpcs::Points<T> points, const T* frames,
                          const xpcs::AngleRow<T>* angles, T* out, double* partial) {
  double squares[1] = {0};
  const long long step = static_cast<long long>(gridDim.x) * xpcs::pair_threads;
  for (long long q = static_cast<long long>(blockIdx.x) * xpcs::pair_threads + threadIdx.x;
       q < points.pairs; q += step) {
    const Pair<T, laminar> pair(frames, grid.count, place_of(q, points.first_row, grid.count));
    for (int a = 0; a < grid.angles; ++a) {
      const long long k = a * points.angle_pitch + q;
      const T r =
          clipped(angles[a].offset + angles[a].contrast * factors<T, laminar>(pair, angles[a]).g) -
          points.data[k];
      out[k] = r;
      squares[0] += static_cast<double>(r) * static_cast<double>(r);
    }
  }
  add_up<xpcs::pair_threads>(squares, partial + blockIdx.x);
}
