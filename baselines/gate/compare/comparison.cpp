// SPDX-License-Identifier: Apache-2.0
#include "gate/compare/comparison.hpp"

#include <algorithm>

namespace holdfast::gate {

double stretched_budget(double at_rest, double stretch) {
  constexpr double most_stretch = 4;
  return at_rest * std::clamp(stretch, 1.0, most_stretch);
}

void PairedRun::go_on(const Watch& watch) {
  while (sequence_.wants_unit()) {
    sequence_.add(units_.next(sequence_.wants_control()));
    if (watch) watch(sequence_.found());
  }
}

Comparison compare(const Builds& builds, const std::string& case_id, const ComparisonPlan& plan,
                   const PairedRun::Watch& watch) {
  PairedRun run(builds, case_id, plan);
  run.go_on(watch);
  run.end();
  return run.found();
}

}  // namespace holdfast::gate
