// SPDX-License-Identifier: Apache-2.0
// Private to fits on a device: the arguments of the solver's step there.
#pragma once

#include <vector>

#include "xpcs_fit/problem/fit.hpp"

namespace holdfast::xpcs_fit {

// Start, lower and upper bounds, [3, p].
inline std::vector<double> in_a_row(const Box& box) {
  std::vector<double> all = box.start;
  all.insert(all.end(), box.lower.begin(), box.lower.end());
  all.insert(all.end(), box.upper.begin(), box.upper.end());
  return all;
}

// The state of a fit before its first pass, [fit_count(p)].
inline std::vector<double> started_state(const Problem& problem) {
  HostFit fit(problem, 0);
  return {fit.state().at, fit.state().at + fit_count(fit.state().p)};
}

}  // namespace holdfast::xpcs_fit
