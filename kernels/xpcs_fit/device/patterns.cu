// SPDX-License-Identifier: Apache-2.0
// The optimized patterns: costs of several sets of parameters from one reading of the data, only a
// chunk of the model, a relaxation that stays in a register.
#include "xpcs_fit/device/points.cuh"

// frames: [sets, 8, count], angles: [sets, angles]. A tile of sets along y; partial: [blocks along
// x, sets].
template <class T, int laminar>
__global__ void __launch_bounds__(xpcs::pair_threads)
    costs(xpcs::Grid grid, xpcs::Points<T> points, int sets, const T* frames,
          const xpcs::AngleRow<T>* angles, double* partial) {
  double squares[xpcs::set_tile] = {};
  const int first = static_cast<int>(blockIdx.y) * xpcs::set_tile;
  frames += static_cast<long long>(first) * 8 * grid.count;
  angles += first * grid.angles;
  const long long step = static_cast<long long>(gridDim.x) * xpcs::pair_threads;
  for (long long q = static_cast<long long>(blockIdx.x) * xpcs::pair_threads + threadIdx.x;
       q < points.pairs; q += step) {
    const Place at = place_of(q, points.first_row, grid.count);
    Pair<T, laminar> pairs[xpcs::set_tile];
#pragma unroll
    for (int set = 0; set < xpcs::set_tile; ++set)
      pairs[set] =
          Pair<T, laminar>(frames + static_cast<long long>(set) * 8 * grid.count, grid.count, at);
    for (int a = 0; a < grid.angles; ++a) {
      const T d = points.data[a * points.angle_pitch + q];
#pragma unroll
      for (int set = 0; set < xpcs::set_tile; ++set) {
        const xpcs::AngleRow<T>& angle = angles[set * grid.angles + a];
        const T r =
            clipped(angle.offset + angle.contrast * factors<T, laminar>(pairs[set], angle).g) - d;
        squares[set] += static_cast<double>(r) * static_cast<double>(r);
      }
    }
  }
  add_up<xpcs::pair_threads>(squares, partial + static_cast<long long>(blockIdx.x) * sets + first);
}

// Points first, first + 1, .. of the flat order; out: [count].
template <class T, int laminar>
__global__ void flat_model(xpcs::Grid grid, long long first, long long count, const T* frames,
                           const xpcs::AngleRow<T>* angles, T* out) {
  const long long q = static_cast<long long>(blockIdx.x) * xpcs::pair_threads + threadIdx.x;
  if (q >= count) return;
  const long long plane = static_cast<long long>(grid.count) * grid.count, k = first + q;
  const xpcs::AngleRow<T>& angle = angles[k / plane];
  const Pair<T, laminar> pair(frames, grid.count, place_of(k % plane, 0, grid.count));
  out[q] = clipped(angle.offset + angle.contrast * factors<T, laminar>(pair, angle).g);
}

// x: [count], relaxed towards m `turns` times.
template <class T>
__global__ void relax(const T* m, T by, int turns, long long count, T* x) {
  const long long k = static_cast<long long>(blockIdx.x) * xpcs::pair_threads + threadIdx.x;
  if (k >= count) return;
  const T to = m[k];
  T own = x[k];
  for (int turn = 0; turn < turns; ++turn) own -= by * (own - to);
  x[k] = own;
}
