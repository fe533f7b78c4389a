// SPDX-License-Identifier: Apache-2.0
// Private to the workload: the parameters at which steps are computed after starting again.
#pragma once

#include <vector>

#include "xpcs_fit/problem/problem.hpp"

namespace holdfast::xpcs_fit {

// The start of the box (input 0), or the middle between it and the truth (input 1).
inline std::vector<double> start_of(const Problem& problem, int input) {
  std::vector<double> start = problem.input->box.start;
  if (input == 0) return start;
  const std::vector<double> end = truth(problem.options, problem.input->size.angles);
  for (std::size_t k = 0; k < start.size(); ++k) start[k] = (start[k] + end[k]) / 2;
  return start;
}

}  // namespace holdfast::xpcs_fit
