// SPDX-License-Identifier: Apache-2.0
// Fits of two-time X-ray photon correlations: their model, their residual, their normal equations
// and the fit itself, each as a reference and optimized (README.md).
#pragma once

#include <cstdint>
#include <memory>

#include "computation.hpp"
#include "runtime/backend/backend.hpp"
#include "xpcs_fit/problem/problem.hpp"

namespace holdfast::xpcs_fit {

// What one step computes, all but fits at the start of the problem's box.
enum class Unit {
  g2,                // result(): the model, [angles, frames, frames]
  residual,          // F, then model - data, [1 + n]; of a linear loss, without weights
  normal_equations,  // F, g [p], N [p, p]
  fit,               // F, passes, status, parameters [p], their deviations [p]: after 8 passes
  converged_fit,     // the same, as many passes as it takes
};

constexpr bool is_fit(Unit unit) {
  return unit == Unit::fit || unit == Unit::converged_fit;
}
constexpr bool has_derivatives(Unit unit) {
  return unit == Unit::normal_equations || is_fit(unit);
}

// Throws Error{bad_input} for a problem that cannot be fitted.
std::unique_ptr<Computation> make(Unit unit, Backend& backend, Variant variant,
                                  const Problem& problem);
// The least that a step must do, by the size alone.
Work work(Unit unit, const Size& size, const Options& options);
// The peak by formula, of the bytes asked for, within a percent from size s on.
std::int64_t estimate_bytes(Unit unit, const Backend& backend, Variant variant, const Size& size,
                            const Options& options);

}  // namespace holdfast::xpcs_fit
