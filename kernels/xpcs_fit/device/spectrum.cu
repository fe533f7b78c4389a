// SPDX-License-Identifier: Apache-2.0
// The power of a spectrum of real samples: half the frequencies stand for all, and are squared and
// added up as they are read.
#include "xpcs_fit/device/points.cuh"

// spectrum: [n, n / 2 + 1, 2]; writes a block's sum to partial[block]. Column 0, and for even n the
// last one, count once, all others twice.
__global__ void weighted_power(const double* spectrum, int n, double* partial) {
  const int columns = n / 2 + 1;
  const long long count = static_cast<long long>(n) * columns;
  const long long step = static_cast<long long>(gridDim.x) * xpcs::pair_threads;
  double sum[1] = {0};
  for (long long k = static_cast<long long>(blockIdx.x) * xpcs::pair_threads + threadIdx.x;
       k < count; k += step) {
    const int column = static_cast<int>(k % columns);
    const bool once = column == 0 || 2 * column == n;
    const double re = spectrum[2 * k], im = spectrum[2 * k + 1];
    sum[0] += (once ? 1 : 2) * (re * re + im * im);
  }
  add_up<xpcs::pair_threads>(sum, partial + blockIdx.x);
}

// One block.
__global__ void total(const double* partial, int count, double* out) {
  double sum[1] = {0};
  for (int k = static_cast<int>(threadIdx.x); k < count; k += xpcs::pair_threads)
    sum[0] += partial[k];
  add_up<xpcs::pair_threads>(sum, out);
}
