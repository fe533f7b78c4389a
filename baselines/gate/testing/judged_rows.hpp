// SPDX-License-Identifier: Apache-2.0
// For tests of the judge: parts of the toy's suite, and the rows that it wrote about them.
#pragma once

#include "gate/accept/accept.hpp"
#include "gate/judge/part.hpp"
#include "gate/testing/toy_root.hpp"

namespace holdfast::gate::toy {

inline Baseline baseline_of(const Results& results) {
  return seen_on(toy::processor,
                 accept(results, std::nullopt, policy(), {.why = "first"}).baseline);
}

inline Part part(const Results& now, const Results& before) {
  return {
      .results = now, .list = toy::list(), .baseline = baseline_of(before), .directory = "results"};
}

inline PartVerdict judge(const Part& judged) {
  return judge_part(judged, policy(), false, true);
}

inline std::vector<std::string> verdicts(const PartVerdict& verdict, const std::string& wanted) {
  std::vector<std::string> found;
  for (const Row& one : verdict.rows)
    if (one.verdict == wanted) found.push_back(one.case_id + ' ' + one.metric);
  return found;
}

// The row about the step.
inline const Row& row(const PartVerdict& verdict, const std::string& metric,
                      const std::string& variant = "optimized") {
  for (const Row& found : verdict.rows)
    if (found.case_id == step_id && found.metric == metric && found.variant == variant)
      return found;
  throw std::runtime_error("no row for " + metric);
}

}  // namespace holdfast::gate::toy
