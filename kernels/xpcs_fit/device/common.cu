// SPDX-License-Identifier: Apache-2.0
// Shared by every form of a fit, as one program: integrals over the frames, sums of partial sums,
// and the step of the solver (step.cuh).
//
// Profiled on an H200 (laminar, 300 frames, f64), a pass of a fit took 176 us: step 99, integrals
// 57, pass 18, sums 2. The first two were the latency of one thread. Changes and predicted times:
//   - One block per array of frames, not one for all eight; all threads scan the sums of runs
//     (Hillis and Steele), not one thread over all 256: integrals 6 us. They take 2.9 to 3.9.
//   - State, sums and box lie in shared memory; all threads form the units of parameters and the
//     scaled matrix once, not per damping with two roots for each entry; the threads that find
//     steps also compute their promised gains: step 48 us. It takes 47 to 50.
// So a pass takes 75 us, two thirds of it the step, and a fit of eight passes 0.61 ms.
#include "xpcs_fit/device/arguments.hpp"
#include "xpcs_fit/device/step.cuh"
#include "xpcs_fit/problem/formulas.hpp"

namespace xpcs = holdfast::xpcs_fit;

// The sum over all threads of a block, in the first, in a fixed order.
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

// In place: values [count] of unit step become their cumulative trapezoids, zero at frame 1. Each
// thread has a run of neighbours, whose sum is added to all later ones.
__device__ void integrate(double* values, int count) {
  __shared__ double before[xpcs::frame_threads];
  const int each = (count + xpcs::frame_threads - 1) / xpcs::frame_threads;
  const int thread = static_cast<int>(threadIdx.x);
  const int first = thread * each, last = min(first + each, count);
  // Trapezoid i spans frames i to i + 1; the one from frame 0 to 1 is not part of the sum.
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
  // An inclusive scan.
#pragma unroll 1
  for (int apart = 1; apart < xpcs::frame_threads; apart *= 2) {
    const double its = thread < apart ? 0 : before[thread - apart];
    __syncthreads();
    before[thread] += its;
    __syncthreads();
  }
  double sum = thread == 0 ? 0 : before[thread - 1];
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

// The value at frame i of the array with this number, one of eight.
__device__ double rate_at(const xpcs::Grid& grid, const double* physical, int array, int i) {
  const xpcs::Rate rate = array < 4 ? xpcs::diffusion_rate(i * grid.dt, physical)
                                    : xpcs::shear_rate(i * grid.dt, grid.dt, physical + 3);
  const int k = array % 4;
  return k == 0 ? rate.value : k == 1 ? rate.by[0] : k == 2 ? rate.by[1] : rate.by[2];
}

// One block per set of parameters and array; without flow there are four arrays. work: [sets, 8,
// count]; frames: the same as T, scaled for the points: exponent, its three derivatives, shear, its
// three. rows: [sets, angles].
template <class T>
__global__ void prefix(xpcs::Grid grid, const double* parameters, int parameter_count,
                       const double* angles, double* work, T* frames, xpcs::AngleRow<T>* rows) {
  const int thread = static_cast<int>(threadIdx.x), set = static_cast<int>(blockIdx.x),
            array = static_cast<int>(blockIdx.y);
  const double* const own = parameters + set * parameter_count;
  const double* const physical = own + (grid.per_angle ? 2 * grid.angles : 2);
  const long long at = (static_cast<long long>(set) * 8 + array) * grid.count;
  double* const values = work + at;
  rows += set * grid.angles;
#pragma unroll 1
  for (int a = thread; array == 0 && a < grid.angles; a += xpcs::frame_threads) {
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
  for (int i = thread; i < grid.count; i += xpcs::frame_threads)
    values[i] = rate_at(grid, physical, array, i);
  __syncthreads();
  integrate(values, grid.count);
  const double scale = array == 0   ? 2 * grid.kappa * 1.4426950408889634
                       : array < 4  ? -2 * grid.kappa
                       : array == 4 ? 1
                                    : 4;
#pragma unroll 1
  for (int i = thread; i < grid.count; i += xpcs::frame_threads)
    frames[at + i] = static_cast<T>(scale * values[i]);
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
