// SPDX-License-Identifier: Apache-2.0
// Answers that share no code with a variant, besides what describes a problem (problem.hpp): the
// model as published, on real and on complex numbers (whose imaginary step gives derivatives
// without cancellation), sums point by point, and the solver on plain vectors. No variant includes
// them.
#pragma once

#include <vector>

#include "xpcs_fit/problem/problem.hpp"

namespace holdfast::xpcs_fit::oracle {

// The model, [angles, frames, frames].
std::vector<double> model(const Problem& problem, const std::vector<double>& parameters);
// weight * (model - data).
std::vector<double> residual(const Problem& problem, const std::vector<double>& parameters);
// Derivatives of the model at point (a, i, j) by each parameter.
std::vector<double> jacobian(const Problem& problem, const std::vector<double>& parameters, int a,
                             int i, int j);

// F, g = sum J r and N = sum J J^T, with the weights of the loss.
struct Normal {
  double cost = 0;
  std::vector<double> gradient = {};  // [p]
  std::vector<double> matrix = {};    // [p, p]
};
Normal normal_equations(const Problem& problem, const std::vector<double>& parameters);
double cost(const Problem& problem, const std::vector<double>& parameters);

// Standard deviations, [p], of all parameters, even of those at their bounds: by N [p, p] and F at
// the minimum. `freedom`: points minus parameters.
std::vector<double> find_sigma(const std::vector<double>& matrix, double cost, double freedom);

struct Fit {
  double cost = 0;
  int passes = 0;
  int status =
      -1;  // 5: converged, 0: too many iterations, 3: steps too small, -2: damping too large
  std::vector<double> parameters = {}, sigma = {};  // [p]
  std::vector<double> path = {};                    // the cost at each accepted point
};
// Makes passes until the fit converges, or, if `passes` is not 0, exactly that many.
Fit fit(const Problem& problem, int passes = 0);

}  // namespace holdfast::xpcs_fit::oracle
