// SPDX-License-Identifier: Apache-2.0
// A step of the solver on the device: the fourth node of a pass, without the host.
#pragma once

#include "xpcs_fit/problem/solver.hpp"

namespace xpcs = holdfast::xpcs_fit;

constexpr int most_parameters = 9, step_threads = 32;
static_assert(xpcs::damping_count <= step_threads);

// F, g, N from the sums of the single group that shares contrast and offset.
__device__ void assemble(const double* sums, double contrast, int p, double* normal) {
  normal[0] = sums[0] / 2;
#pragma unroll 1
  for (int k = 0; k < p; ++k) {
    const double by = xpcs::carries_contrast(k) ? contrast : 1;
    normal[1 + k] = by * sums[1 + k];
#pragma unroll 1
    for (int l = 0; l <= k; ++l) {
      const double both = xpcs::carries_contrast(l) ? by * contrast : by;
      const double entry = both * sums[1 + p + xpcs::packed(k, l)];
      normal[1 + p + k * p + l] = normal[1 + p + l * p + k] = entry;
    }
  }
}

// Copies `count` numbers with all threads.
__device__ void fetch(const double* from, int count, double* to) {
  for (int k = static_cast<int>(threadIdx.x); k < count; k += step_threads) to[k] = from[k];
}

// state: fit_count(p); box: start, lower, upper, [3, p]; result: [1 + fit_count(p)], first the
// number of fits that have ended. One block, of which four threads solve for one damping each, with
// all their data in shared memory.
__global__ void step(double* state, const double* sums, const double* box, int p, double freedom,
                     int wanted_passes, double* result) {
  __shared__ double held[xpcs::fit_count(most_parameters)], own_box[3 * most_parameters];
  __shared__ double own_sums[xpcs::sum_count(most_parameters)];
  __shared__ double normal[1 + most_parameters + most_parameters * most_parameters];
  __shared__ double scaled[xpcs::scaled_count(most_parameters)];
  __shared__ double steps[xpcs::damping_count * most_parameters], gains[xpcs::damping_count];
  __shared__ double work[xpcs::damping_count][xpcs::box_step_work(most_parameters)];
  __shared__ bool found[xpcs::damping_count];
  __shared__ bool again;
  const int thread = static_cast<int>(threadIdx.x);
  const xpcs::FitState fit = {held, p};
  const xpcs::BoxView within = {own_box, own_box + p, own_box + 2 * p};
  const bool steady = wanted_passes > 0;
  fetch(state, xpcs::fit_count(p), held);
  fetch(sums, xpcs::sum_count(p), own_sums);
  fetch(box, 3 * p, own_box);
  __syncthreads();
  if (thread == 0) {
    assemble(own_sums, fit.trial()[0], p, normal);
    xpcs::judge(fit, normal);
    again = steady || fit.status() == xpcs::running;
  }
  __syncthreads();
  xpcs::fill_units(fit, scaled, thread, step_threads);
  __syncthreads();
  xpcs::fill_scaled(fit, scaled, thread, step_threads);
  __syncthreads();
  while (again) {
    if (thread < xpcs::damping_count)
      gains[thread] = xpcs::try_damping(fit, scaled, within, thread, steps + thread * p,
                                        work[thread], found[thread]);
    __syncthreads();
    if (thread == 0) again = xpcs::propose(fit, within, freedom, steady, steps, gains, found);
    __syncthreads();
  }
  const bool over = xpcs::is_over(fit, wanted_passes);
  if (thread == 0) result[0] = over;
  if (over) fetch(held, xpcs::fit_count(p), result + 1);
  __syncthreads();
  if (over && thread == 0) xpcs::restart(fit, within);
  __syncthreads();
  fetch(held, xpcs::fit_count(p), state);
}
