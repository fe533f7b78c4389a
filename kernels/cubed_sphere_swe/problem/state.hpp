// SPDX-License-Identifier: Apache-2.0
// The fields on the sphere, and their initial states.
#pragma once

#include <vector>

#include "cubed_sphere_swe/problem/options.hpp"

namespace holdfast::cubed_sphere_swe {

// h: [6, n+1, n+1] at vertices; v1: [6, n, n+1]; v2: [6, n+1, n]; covariant, row-major, x1 slow.
struct State {
  std::vector<double> h = {}, v1 = {}, v2 = {};
};
State initial_state(Size size, Start start);
State panel_bump(Size size, double amplitude,
                 double width);                // on panel 0, deliberately discontinuous at its rim
void validate(Size size, const State& state);  // lengths and finiteness

}  // namespace holdfast::cubed_sphere_swe
