// SPDX-License-Identifier: Apache-2.0
// The exact height for every start that has one: a series of Legendre polynomials about the bump's
// centre, each term oscillating at its own frequency.
#pragma once

#include <vector>

#include "cubed_sphere_swe/problem/options.hpp"

namespace holdfast::cubed_sphere_swe {

// h at time t (radians of travel), [6, n+1, n+1]. At t = 0 the start itself, not its series.
// Error{bad_input} for `random`, which has no exact solution.
std::vector<double> exact_height(Size size, Start start, double t);

// h(theta, t) = sum_l c_l cos(sqrt(l (l+1)) t) P_l(cos theta), l = 0..64, at cos theta = x, for the
// bumps.
double series_height(Start start, double t, double x);

}  // namespace holdfast::cubed_sphere_swe
