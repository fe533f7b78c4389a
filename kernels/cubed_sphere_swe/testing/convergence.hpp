// SPDX-License-Identifier: Apache-2.0
// For the tests: the error of a run against the exact solution.
#pragma once

#include <cmath>

#include "cubed_sphere_swe/cubed_sphere_swe.hpp"
#include "cubed_sphere_swe/problem/diagnostics.hpp"
#include "cubed_sphere_swe/problem/exact_solution.hpp"

namespace holdfast::cubed_sphere_swe {

// The optimized variant on host, until time t in ceil(3 n t) equal steps.
inline Deviation error_at(Size size, Start start, double t, MetricSign q12 = MetricSign::correct) {
  const auto backend = open_backend("host");
  const int steps = static_cast<int>(std::ceil(3 * size.n * t));
  const auto run = make_loop(*backend, Variant::optimized, size,
                             {.start = start, .q12 = q12, .dt = t / steps, .steps = steps});
  run->step();
  return deviation(size, as_state(size, run->result()).h, exact_height(size, start, t));
}

}  // namespace holdfast::cubed_sphere_swe
