// SPDX-License-Identifier: Apache-2.0
// Generates the data of a batch of rows where they are used: the model at the truth with noise that
// depends only on a point's 64-bit index in all data.
#include "xpcs_fit/data/noise.hpp"
#include "xpcs_fit/device/points.cuh"

// out: [angles, pairs], rows from first_row on.
template <class T, int laminar>
__global__ void generate(xpcs::Grid grid, long long pairs, int first_row, double amount,
                         unsigned long long seed, const double* frames,
                         const xpcs::AngleRow<double>* angles, T* out) {
  const long long step = static_cast<long long>(gridDim.x) * xpcs::pair_threads;
  for (long long q = static_cast<long long>(blockIdx.x) * xpcs::pair_threads + threadIdx.x;
       q < pairs; q += step) {
    const Pair<double, laminar> pair(frames, grid.count, place_of(q, first_row, grid.count));
#pragma unroll 1
    for (int a = 0; a < grid.angles; ++a) {
      const double m = clipped(angles[a].offset +
                               angles[a].contrast * factors<double, laminar>(pair, angles[a]).g);
      const long long row = static_cast<long long>(a) * grid.count + first_row;
      const unsigned long long k = static_cast<unsigned long long>(row * grid.count + q);
      out[a * pairs + q] =
          static_cast<T>(m * (1 + amount * xpcs::noise(k, seed, xpcs::noise_of_data)));
    }
  }
}
