// SPDX-License-Identifier: Apache-2.0
// The inputs of a tendency's components, computed by the host in double precision.
#pragma once

#include <vector>

#include "cubed_sphere_swe/problem/state.hpp"

namespace holdfast::cubed_sphere_swe {

struct ComponentInputs {
  std::vector<double> projected = {};    // A h: [6, n+1, n+1]
  std::vector<double> u1 = {}, u2 = {};  // mass flux: [6, n, n+1], [6, n+1, n]
  std::vector<double> divergence = {};   // Dcv u1 + Dcv u2: [6, n+1, n+1]
};
ComponentInputs component_inputs(int n, MetricSign q12, const State& state);

// The field of a state that an operator along x1 or x2 applies to.
inline const std::vector<double>& operand(const State& state, Operator op, int direction) {
  return !onto_vertices(op) ? state.h : direction == 1 ? state.v1 : state.v2;
}

}  // namespace holdfast::cubed_sphere_swe
