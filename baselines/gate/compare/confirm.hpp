// SPDX-License-Identifier: Apache-2.0
// The second opinion about what screening suspects: the build that was measured against another
// one, timed in lock step. There is one confirmation, never "again until green".
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "gate/compare/sequential.hpp"
#include "gate/documents/documents.hpp"
#include "gate/documents/measured_part.hpp"
#include "gate/documents/policy.hpp"

namespace holdfast::gate {

struct ConfirmPlan {
  std::filesystem::path base;  // the folder of the suites to compare with
  std::filesystem::path head;  // the folder of those that were measured
  double budget_seconds = 60;  // for each case
  double unit_seconds = 0.3;   // of samples, from each pair of processes
  bool undecided_fails = true;
  Clock clock = Clock::by_load;
  std::size_t most_comparisons = 1000;
};

// How many comparisons it takes to decide these rows.
std::size_t count_comparisons(const Part& part, const Policy& policy,
                              const std::vector<Row*>& suspects);

// Decides rows of times and ratios that screening suspects: each keeps what screening said and
// tells what the comparison found. Where a case cannot be compared a note says why, and screening's
// verdict stands; so it does of what comes after the most comparisons. How many there were.
std::size_t confirm(const ConfirmPlan& plan, const Part& part, const Policy& policy,
                    const std::vector<Row*>& suspects, std::vector<std::string>& notes);

}  // namespace holdfast::gate
