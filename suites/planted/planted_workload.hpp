// SPDX-License-Identifier: Apache-2.0
// A workload that can be made worse on purpose, for the tests that prove that the gate notices: a
// smoothing stencil on a ring, host and device, and what HOLDFAST_PLANT makes of its optimized
// variant.
#pragma once

#include <memory>
#include <vector>

#include "computation.hpp"
#include "runtime/backend.hpp"

namespace holdfast::planted {

enum class Plant {
  nothing,
  launch,       // one more kernel per step
  allocation,   // one more buffer
  recompile,    // a program compiled in every step, as permitted
  undeclared,   // the same without permission
  slow,         // half the speed on host
  coefficient,  // a wrong one
  crash,        // the process ends in the first step
};
Plant plant();  // from the environment; Error{bad_input} for an unknown one

// step(): x_i <- (x_{i-1} + 2 x_i + x_{i+1}) / 4 on a ring of n; result(): x.
std::unique_ptr<Computation> make_smooth(Backend& backend, Variant variant, int n);
Work smooth_work(int n);
std::vector<double> smooth_expected(int n, int steps);

}  // namespace holdfast::planted
