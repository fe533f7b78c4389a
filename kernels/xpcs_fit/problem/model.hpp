// SPDX-License-Identifier: Apache-2.0
// The model's parts shared by host variants and inputs: its frames and its angles, computed once
// per set of parameters.
#pragma once

#include <vector>

#include "xpcs_fit/problem/problem.hpp"

namespace holdfast::xpcs_fit {

// Cumulative trapezoids of unit step over the frames, zero at frame 1: of the two rates and of
// their derivatives by their parameters. Empty if the mode has none.
struct Frames {
  std::vector<double> s = {}, q = {};
  std::vector<double> s_by[3] = {}, q_by[3] = {};
};

// parameters: of one angle, 5 or 9.
Frames frames(const Physics& physics, int count, Mode mode, const double* parameters);

// The phase of an angle per unit of shear, and its derivative by phi_0.
struct Direction {
  double cosine = 0, sine = 0;  // P cos psi, P sin psi pi / 180
};
Direction direction(const Physics& physics, double angle, double phi_0);

// The parameters of angle a, out of all.
std::vector<double> local(const Options& options, int angles, int a,
                          const std::vector<double>& parameters);

}  // namespace holdfast::xpcs_fit
