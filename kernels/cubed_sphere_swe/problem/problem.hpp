// SPDX-License-Identifier: Apache-2.0
// Private to the workload: the input of the four implementations.
#pragma once

#include <functional>

#include "cubed_sphere_swe/problem/options.hpp"
#include "cubed_sphere_swe/problem/state.hpp"

namespace holdfast::cubed_sphere_swe {

enum class Unit {
  rhs,        // step(): the tendency of the start; result(): dh, dv1, dv2
  rk4_step,   // step(): one step of the chained state; result(): h, v1, v2
  loop,       // step(): `steps` steps of the chained state; result(): h, v1, v2
  component,  // step(): one part of a tendency; result(): as Component says
};

// Already validated: factories allocate and compute, and never reject it.
struct Problem {
  Unit unit = Unit::rhs;
  int n = 48;
  double dt = 0;         // > 0
  Options options = {};  // options.dt is ignored in favour of the one above
  Component component = {};
  State start = {};
  // Makes the start again, for computations that restart; for input 1 exactly twice the start,
  // whose tendency is exactly twice as large.
  std::function<State(int input)> begin = {};
};

}  // namespace holdfast::cubed_sphere_swe
