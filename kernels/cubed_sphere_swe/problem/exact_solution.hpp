// SPDX-License-Identifier: Apache-2.0
// The exact height for every start that has a closed solution: a series of Legendre polynomials
// about the bump's centre, each term oscillating at its own frequency.
#pragma once

#include <vector>

#include "cubed_sphere_swe/problem/options.hpp"

namespace holdfast::cubed_sphere_swe {

// h at time t (radians of travel), [6, n+1, n+1]. At t = 0 the start itself, not its series. Throws
// Error{bad_input} for `random`, which has no exact solution.
std::vector<double> exact_height(Size size, Start start, double t);

}  // namespace holdfast::cubed_sphere_swe
