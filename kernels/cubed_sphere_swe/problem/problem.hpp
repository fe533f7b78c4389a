// SPDX-License-Identifier: Apache-2.0
// Private to the workload: what the four implementations are given.
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

// Validated: a factory allocates and computes, and refuses nothing.
struct Problem {
  Unit unit = Unit::rhs;
  int n = 48;
  double dt = 0;         // > 0
  Options options = {};  // its dt is not read: the one above is
  Component component = {};
  State start = {};
  // The start once more, for those who begin again; of input number 1 twice that, of which a
  // tendency is twice as large to the last bit.
  std::function<State(int input)> begin = {};
};

}  // namespace holdfast::cubed_sphere_swe
