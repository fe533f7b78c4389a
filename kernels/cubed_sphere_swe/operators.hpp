// SPDX-License-Identifier: Apache-2.0
// The summation-by-parts operators as matrices, their quadratures, and their rows one by one. The
// coefficients themselves are in formulas.hpp, shared with device code.
#pragma once

#include <vector>

#include "cubed_sphere_swe/formulas.hpp"

namespace holdfast::cubed_sphere_swe {

inline constexpr Operators<double> operators = make_operators<double>();

// dcv: derivative, centres -> vertices, [n+1, n]; dvc: vertices -> centres, [n, n+1]; pcv, pvc:
// interpolation; adjoint: dcv with the boundary penalty folded in.
enum class Operator { dcv, dvc, pcv, pvc, adjoint };

// Row-major. Derivatives are divided by dx = pi / (2n).
std::vector<double> dense(Operator which, int n);

// Quadrature weights, times dx: [n+1] at vertices, [n] at centres.
std::vector<double> vertex_weights(int n);
std::vector<double> center_weights(int n);

// The extrapolation to the first border as a dense row of n entries; `last` gives the other
// border's.
std::vector<double> extrapolation(int n, bool last);

}  // namespace holdfast::cubed_sphere_swe
