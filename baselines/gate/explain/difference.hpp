// SPDX-License-Identifier: Apache-2.0
// Two results roots side by side, without a baseline.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gate/base/numbers.hpp"
#include "gate/documents/list.hpp"
#include "gate/documents/results.hpp"
#include "gate/documents/results_root.hpp"

namespace holdfast::gate {

// One metric of a case that one side or both have.
struct DifferenceRow {
  std::string case_id;
  std::string variant;
  std::string metric;
  std::string kind;
  std::optional<Value> before = {};
  std::optional<Value> after = {};

  // Counts and code must be equal; times and ratios are only shown.
  bool must_agree() const { return kind == "exact" || kind == "codegen"; }
};

struct Difference {
  std::vector<DifferenceRow> rows = {};  // counts and code that differ, and all times and ratios
  std::vector<std::string> only_before = {};  // ids of cases
  std::vector<std::string> only_after = {};
  std::vector<std::string> unwell = {};  // common cases without a right result, and where
  std::size_t common_cases = 0;
  std::size_t declared_for_one = 0;  // cases taken out by forget_undeclared()

  bool equal() const;
};

Difference compare(const Results& before, const Results& after);

// Removes cases that the suite's list declares for only one of the two kinds of device: a graph's
// case has no counterpart on the host.
void forget_undeclared(Difference& difference, const List& list, const std::string& before_kind,
                       const std::string& after_kind);

struct Pair {
  const StoredResults* before = nullptr;  // one is null if only the other side has the suite
  const StoredResults* after = nullptr;
};

// Pairs results by suite and device class. `classes` maps classes of the left to those of the right
// ("A=B"); if a suite has one class on each side, these are a pair whatever their names.
std::vector<Pair> pair_up(const std::vector<StoredResults>& before,
                          const std::vector<StoredResults>& after,
                          const std::vector<std::string>& classes);

}  // namespace holdfast::gate
