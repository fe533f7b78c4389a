// SPDX-License-Identifier: Apache-2.0
// The second opinion about what screening suspects: the build that was measured against another
// one, timed in lock step. There is one confirmation, never "again until green".
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "gate/compare/sequential.hpp"
#include "gate/documents/aliases.hpp"
#include "gate/documents/measured_part.hpp"
#include "gate/documents/policy/policy.hpp"
#include "gate/documents/verdict.hpp"

namespace holdfast::gate {

struct ConfirmPlan {
  std::filesystem::path base;  // the folder of the suites to compare with
  std::filesystem::path head;  // the folder of those that were measured
  double budget_seconds = 60;  // for each case
  double unit_seconds = 0.3;   // of samples, from each pair of processes
  bool undecided_fails = true;
  Clock clock = Clock::by_load;
  Aliases aliases = {};  // of cases with another name in the base
};

// What is left of a check's comparisons: what one case or suite does not need goes to the others.
struct Allowance {
  std::size_t comparisons = 0;
  double seconds = 0;  // of the budgets of cases that were decided before they were spent
};

// How many comparisons it takes to decide those of the rows that one can decide.
std::size_t count_comparisons(const ConfirmPlan& plan, const Part& part, const Policy& policy,
                              const std::vector<Row*>& suspects);

// Decides rows of times and ratios that screening suspects: each keeps what screening said and adds
// what the comparison found. A case that its budget leaves undecided continues after the others, in
// the time that they left. If a case cannot be compared, a note says why, and screening's verdict
// stands; it also stands for rows beyond the last comparison that is allowed. But a time's loss
// beside a base of the same hour is then undecided.
void confirm(const ConfirmPlan& plan, const Part& part, const Policy& policy,
             const std::vector<Row*>& suspects, std::vector<std::string>& notes,
             Allowance& allowance);

}  // namespace holdfast::gate
