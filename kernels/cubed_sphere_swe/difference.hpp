// SPDX-License-Identifier: Apache-2.0
// For the tests: what a computation arrives at, and how far two states are apart.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <span>

#include "cubed_sphere_swe/cubed_sphere_swe.hpp"
#include "cubed_sphere_swe/diagnostics.hpp"

namespace holdfast::cubed_sphere_swe {

// The state or tendency after `calls` of step().
inline State state_after(std::unique_ptr<Computation> computation, Size size, int calls = 1) {
  for (int k = 0; k < calls; ++k) computation->step();
  return as_state(size, computation->result());
}

// Largest difference relative to the expected field's largest magnitude; infinite where there is a
// value that is no number or a field of another length.
inline double difference(std::span<const double> values, std::span<const double> expected) {
  if (values.size() != expected.size()) return std::numeric_limits<double>::infinity();
  double worst = 0;
  for (std::size_t k = 0; k < values.size(); ++k) {
    const double apart = std::abs(values[k] - expected[k]);
    if (!std::isfinite(apart)) return std::numeric_limits<double>::infinity();
    worst = std::max(worst, apart);
  }
  return worst / largest(expected);
}
inline double difference(const State& a, const State& b) {
  return std::max({difference(a.h, b.h), difference(a.v1, b.v1), difference(a.v2, b.v2)});
}

}  // namespace holdfast::cubed_sphere_swe
