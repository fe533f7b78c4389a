// SPDX-License-Identifier: Apache-2.0
// What every form of a fit shares, one program: integrals over the frames, sums of partial sums,
// and the step of the solver, which step.cuh brings.
#include "xpcs_fit/device/arguments.hpp"
#include "xpcs_fit/device/step.cuh"
#include "xpcs_fit/problem/formulas.hpp"

namespace xpcs = holdfast::xpcs_fit;

// The sum of all threads of a block, in the first; the same order every time.
template <int threads>
__device__ double block_sum(double own) {
  __shared__ double shared[threads];
  shared[threadIdx.x] = own;
  __syncthreads();
#pragma unroll 1
  for (int half = threads / 2; half > 0; half /= 2) {
    if (static_cast<int>(threadIdx.x) < half) shared[threadIdx.x] += shared[threadIdx.x + half];
    __syncthreads();
  }
  const double sum = shared[0];
  __syncthreads();
  return sum;
}

// In place: values [count] of unit step become their cumulative trapezoids, zero at frame 1. Every
// thread has a run of neighbours, whose sum is added to those behind it.
__device__ void integrate(double* values, int count) {
  __shared__ double before[xpcs::frame_threads];
  const int each = (count + xpcs::frame_threads - 1) / xpcs::frame_threads;
  const int thread = static_cast<int>(threadIdx.x);
  const int first = thread * each, last = min(first + each, count);
  // Trapezoid i leads from frame i to i + 1; the one from frame 0 to 1 is no part of the sum.
  double own = 0, left = first < last ? values[first] : 0;
  const double begin = left, beyond = last < count && first < last ? values[last] : 0;
#pragma unroll 1
  for (int i = first; i < last && i + 1 < count; ++i) {
    const double right = i + 1 < last ? values[i + 1] : beyond;
    if (i > 0) own += (left + right) / 2;
    left = right;
  }
  before[thread] = own;
  __syncthreads();
  if (thread == 0) {
    double sum = 0;
#pragma unroll 1
    for (int k = 0; k < xpcs::frame_threads; ++k) {
      const double its = before[k];
      before[k] = sum;
      sum += its;
    }
  }
  __syncthreads();
  double sum = before[thread];
  left = begin;
#pragma unroll 1
  for (int i = first; i < last; ++i) {
    const double right = i + 1 < last ? values[i + 1] : beyond;
    values[i] = i == 0 ? -(left + right) / 2 : sum;
    if (i > 0) sum += (left + right) / 2;
    left = right;
  }
  __syncthreads();
}

// One block per set of parameters. work: [sets, 8, count]; frames: the same as T, scaled for the
// points: exponent, its three derivatives, shear, its three. rows: [sets, angles].
template <class T>
__global__ void prefix(xpcs::Grid grid, const double* parameters, int parameter_count,
                       const double* angles, double* work, T* frames, xpcs::AngleRow<T>* rows) {
  const int thread = static_cast<int>(threadIdx.x), set = static_cast<int>(blockIdx.x);
  const double* const own = parameters + set * parameter_count;
  const double* const physical = own + (grid.per_angle ? 2 * grid.angles : 2);
  work += static_cast<long long>(set) * 8 * grid.count;
  frames += static_cast<long long>(set) * 8 * grid.count;
  rows += set * grid.angles;
#pragma unroll 1
  for (int a = thread; a < grid.angles; a += xpcs::frame_threads) {
    xpcs::AngleRow<T> row;
    row.contrast = static_cast<T>(own[grid.per_angle ? a : 0]);
    row.offset = static_cast<T>(own[grid.per_angle ? grid.angles + a : 1]);
    if (grid.laminar) {
      const double psi = (physical[6] - angles[a]) * xpcs::degree;
      row.cosine = static_cast<T>(grid.flow * cos(psi));
      row.sine = static_cast<T>(grid.flow * sin(psi) * xpcs::degree);
      row.inverse = static_cast<T>(1 / (grid.flow * cos(psi)));
    }
    rows[a] = row;
  }
#pragma unroll 1
  for (int i = thread; i < grid.count; i += xpcs::frame_threads) {
    const xpcs::Rate d = xpcs::diffusion_rate(i * grid.dt, physical);
    work[i] = d.value;
#pragma unroll 1
    for (int k = 0; k < 3; ++k) work[(1 + k) * grid.count + i] = d.by[k];
    if (!grid.laminar) continue;
    const xpcs::Rate g = xpcs::shear_rate(i * grid.dt, grid.dt, physical + 3);
    work[4 * grid.count + i] = g.value;
#pragma unroll 1
    for (int k = 0; k < 3; ++k) work[(5 + k) * grid.count + i] = g.by[k];
  }
  __syncthreads();
#pragma unroll 1
  for (int array = 0; array < (grid.laminar ? 8 : 4); ++array) {
    double* const values = work + array * grid.count;
    integrate(values, grid.count);
    const double scale = array == 0   ? 2 * grid.kappa * 1.4426950408889634
                         : array < 4  ? -2 * grid.kappa
                         : array == 4 ? 1
                                      : 4;
#pragma unroll 1
    for (int i = thread; i < grid.count; i += xpcs::frame_threads)
      frames[array * grid.count + i] = static_cast<T>(scale * values[i]);
  }
}

// partial: [groups, slots, count] -> sums: [groups, count]. One block per sum.
__global__ void reduce(const double* partial, int slots, int count, double* sums) {
  const int k = static_cast<int>(blockIdx.x), group = static_cast<int>(blockIdx.y);
  partial += static_cast<long long>(group) * slots * count;
  double own = 0;
#pragma unroll 1
  for (int slot = static_cast<int>(threadIdx.x); slot < slots; slot += xpcs::sum_threads)
    own += partial[static_cast<long long>(slot) * count + k];
  const double sum = block_sum<xpcs::sum_threads>(own);
  if (threadIdx.x == 0) sums[group * count + k] = sum;
}
