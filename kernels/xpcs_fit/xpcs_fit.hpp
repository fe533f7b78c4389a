// SPDX-License-Identifier: Apache-2.0
// Fits of two-time X-ray photon correlations: the model, the residual, the normal equations and the
// fit itself, each as a reference and optimized (README.md).
#pragma once

#include <cstdint>
#include <memory>

#include "computation.hpp"
#include "runtime/backend/backend.hpp"
#include "xpcs_fit/problem/problem.hpp"

namespace holdfast::xpcs_fit {

// The result of one step; all but fits are evaluated at the start of the problem's box.
enum class Unit {
  g2,                // result(): the model, [angles, frames, frames]
  residual,          // F, then model - data, [1 + n]; linear loss, without weights
  normal_equations,  // F, g [p], N [p, p]
  fit,               // F, passes, status, parameters [p], their deviations [p]: after 8 passes
  converged_fit,     // the same, after as many passes as it takes
};

constexpr bool is_fit(Unit unit) {
  return unit == Unit::fit || unit == Unit::converged_fit;
}
constexpr bool has_derivatives(Unit unit) {
  return unit == Unit::normal_equations || is_fit(unit);
}

// Throws Error{bad_input} for an invalid problem.
std::unique_ptr<Computation> make(Unit unit, Backend& backend, Variant variant,
                                  const Problem& problem);
// The minimum work of a step, from the sizes alone.
Work work(Unit unit, const Size& size, const Options& options);
// The peak by formula, in requested bytes, within a percent from size s on.
std::int64_t estimate_bytes(Unit unit, const Backend& backend, Variant variant, const Size& size,
                            const Options& options);

}  // namespace holdfast::xpcs_fit
