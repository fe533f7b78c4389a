// SPDX-License-Identifier: Apache-2.0
// A step of the solver on the device: the fourth node of a pass. The host is not asked.
#pragma once

#include "xpcs_fit/problem/solver.hpp"

namespace xpcs = holdfast::xpcs_fit;

constexpr int most_parameters = 9, step_threads = 32;
static_assert(xpcs::damping_count <= step_threads);

// F, g, N from the sums of the one group that shares contrast and offset.
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

// state: fit_count(p); box: start, lower, upper, [3, p]; result: [1 + fit_count(p)], its first how
// many fits have ended. One block, of which four threads solve for a damping each.
__global__ void step(double* state, const double* sums, const double* box, int p, double freedom,
                     int wanted_passes, double* result) {
  __shared__ double normal[1 + most_parameters + most_parameters * most_parameters];
  __shared__ double steps[xpcs::damping_count * most_parameters];
  __shared__ double work[xpcs::damping_count][xpcs::box_step_work(most_parameters)];
  __shared__ bool found[xpcs::damping_count];
  __shared__ bool again;
  const int thread = static_cast<int>(threadIdx.x);
  const xpcs::FitState fit = {state, p};
  const xpcs::BoxView within = {box, box + p, box + 2 * p};
  const bool steady = wanted_passes > 0;
  if (thread == 0) {
    assemble(sums, fit.trial()[0], p, normal);
    xpcs::judge(fit, normal);
    again = steady || fit.status() == xpcs::running;
  }
  __syncthreads();
  while (again) {
    if (thread < xpcs::damping_count)
      found[thread] = xpcs::box_step(fit, within, xpcs::damping_of(fit, thread), steps + thread * p,
                                     work[thread]);
    __syncthreads();
    if (thread == 0) again = xpcs::propose(fit, within, freedom, steady, steps, found);
    __syncthreads();
  }
  if (thread != 0) return;
  result[0] = xpcs::is_over(fit, wanted_passes);
  if (result[0] == 0) return;
#pragma unroll 1
  for (int k = 0; k < xpcs::fit_count(p); ++k) result[1 + k] = state[k];
  xpcs::restart(fit, within);
}
