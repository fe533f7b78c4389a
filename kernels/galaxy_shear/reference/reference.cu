// SPDX-License-Identifier: Apache-2.0
// The reference's operations as kernels: one thread per element of a row of reference_verbs.hpp, a
// block per galaxy for a sum. Transforms are the library's.
#include "arrays/arrays.cu"  // what a row becomes, and global_index
#include "galaxy_shear/reference/reference_verbs.hpp"

GALAXY_SHEAR_VERBS(HOLDFAST_KERNEL, HOLDFAST_NOTHING)

// The block's sums of `count` numbers per thread, in a fixed order; thread 0 has them.
template <int count>
__device__ void block_sum(double (&sums)[count]) {
  __shared__ double parts[SUM_THREADS][count];
  for (int k = 0; k < count; ++k) parts[threadIdx.x][k] = sums[k];
  for (int width = SUM_THREADS / 2; width > 0; width /= 2) {
    __syncthreads();
    if (threadIdx.x < width)
      for (int k = 0; k < count; ++k) parts[threadIdx.x][k] += parts[threadIdx.x + width][k];
  }
  for (int k = 0; k < count; ++k) sums[k] = parts[0][k];
}

template <class T>
__global__ void half_square(const T* in, double* out, long long rows, int columns) {
  const T* own = in + blockIdx.x * static_cast<long long>(columns);
  double sum[1] = {};
  for (int c = threadIdx.x; c < columns; c += SUM_THREADS) {
    const double value = own[c];
    sum[0] += value * value / 2;
  }
  block_sum(sum);
  if (threadIdx.x == 0) out[blockIdx.x] = sum[0];
}

template <class T>
__global__ void weighted_light(const T* in, const T* weights, double* out, long long rows,
                               int columns) {
  const T* own = in + blockIdx.x * static_cast<long long>(columns);
  double sum[1] = {};
  for (int c = threadIdx.x; c < columns; c += SUM_THREADS) sum[0] += own[c] * weights[c];
  block_sum(sum);
  if (threadIdx.x == 0) out[blockIdx.x] = sum[0];
}

template <class T>
__global__ void matrix_slopes(const holdfast::galaxy_shear::Value<T>* slope, int n, double step,
                              holdfast::galaxy_shear::Slopes* out, long long rows, int columns) {
  const auto* own = slope + blockIdx.x * static_cast<long long>(columns);
  double sums[4] = {};
  for (int c = threadIdx.x; c < columns; c += SUM_THREADS) {
    const holdfast::galaxy_shear::Wave k =
        holdfast::galaxy_shear::wave_at(c / (n / 2 + 1), c % (n / 2 + 1), n, step);
    sums[0] += own[c].re * k.kx;
    sums[1] += own[c].re * k.ky;
    sums[2] += own[c].im * k.kx;
    sums[3] += own[c].im * k.ky;
  }
  block_sum(sums);
  if (threadIdx.x > 0) return;
  out[blockIdx.x].j11 = sums[0];
  out[blockIdx.x].j12 = sums[1];
  out[blockIdx.x].j21 = sums[2];
  out[blockIdx.x].j22 = sums[3];
}

template <class T>
__global__ void shift_slopes(const T* angle, int n, double step,
                             holdfast::galaxy_shear::Slopes* out, long long rows, int columns) {
  const T* own = angle + blockIdx.x * static_cast<long long>(columns);
  double sums[2] = {};
  for (int c = threadIdx.x; c < columns; c += SUM_THREADS) {
    const holdfast::galaxy_shear::Wave k =
        holdfast::galaxy_shear::wave_at(c / (n / 2 + 1), c % (n / 2 + 1), n, step);
    sums[0] += k.kx * own[c];
    sums[1] += k.ky * own[c];
  }
  block_sum(sums);
  if (threadIdx.x > 0) return;
  out[blockIdx.x].dx = sums[0];
  out[blockIdx.x].dy = sums[1];
}

template <class T>
__global__ void light_slopes(const holdfast::galaxy_shear::Placed* placed,
                             const holdfast::galaxy_shear::Value<T>* profile_slope,
                             const T* form_slope, const T* t,
                             const holdfast::galaxy_shear::Value<T>* at,
                             holdfast::galaxy_shear::Slopes* out, long long rows, int columns) {
  const long long first = blockIdx.x * static_cast<long long>(columns);
  double sums[2] = {};
  for (long long p = first + threadIdx.x; p < first + columns; p += SUM_THREADS) {
    sums[0] += profile_slope[p].re / (t[p] * T(sqrt(t[p])));
    sums[1] += form_slope[p] * (at[p].re * at[p].re + at[p].im * at[p].im);
  }
  block_sum(sums);
  if (threadIdx.x > 0) return;
  out[blockIdx.x].light = sums[0];
  out[blockIdx.x].radius = 2 * placed[blockIdx.x].radius * sums[1];
}
