// SPDX-License-Identifier: Apache-2.0
// The summation-by-parts operators as matrices, their quadratures, and their rows one by one. The
// coefficients themselves are in formulas.hpp, shared with device code.
#pragma once

#include <span>
#include <vector>

#include "cubed_sphere_swe/problem/formulas.hpp"

namespace holdfast::cubed_sphere_swe {

inline constexpr Operators<double> operators = make_operators<double>();

// dcv: derivative, centres -> vertices, [n+1, n]; dvc: vertices -> centres, [n, n+1]; pcv, pvc:
// interpolation; adjoint: dcv with the boundary penalty folded in.
enum class Operator { dcv, dvc, pcv, pvc, adjoint };
constexpr bool onto_vertices(Operator op) {
  return op == Operator::dcv || op == Operator::pcv || op == Operator::adjoint;
}

// Row-major. Derivatives are divided by dx = pi / (2n).
std::vector<double> dense(Operator which, int n);

// `which` along x1 or x2 of a field over all panels, by rows of five coefficients. x: [6, n+1, n+1]
// for dvc and pvc; else [6, n, n+1] along x1 and [6, n+1, n] along x2, which is the shape of the
// result for dvc and pvc.
std::vector<double> apply(Operator which, int direction, int n, std::span<const double> x);

// Quadrature weights, times dx: [n+1] at vertices, [n] at centres.
std::vector<double> vertex_weights(int n);
std::vector<double> center_weights(int n);

// The extrapolation to the first border, or if `last` to the other one, as a dense row of n
// entries.
std::vector<double> extrapolation(int n, bool last);

}  // namespace holdfast::cubed_sphere_swe
