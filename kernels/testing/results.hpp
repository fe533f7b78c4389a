// SPDX-License-Identifier: Apache-2.0
// For tests: what a computation tells after some steps.
#pragma once

#include <cmath>
#include <string_view>
#include <vector>

#include "computation.hpp"

namespace holdfast {

// The result after that many further steps.
inline std::vector<double> result_of(Computation& computation, int steps = 1) {
  for (int k = 0; k < steps; ++k) computation.step();
  return computation.result();
}

// Its reading of that name; NaN if there is none.
inline double reading(Computation& computation, std::string_view name) {
  for (const NamedReading& each : computation.readings())
    if (each.name == name) return each.value;
  return NAN;
}

}  // namespace holdfast
