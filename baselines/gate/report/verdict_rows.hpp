// SPDX-License-Identifier: Apache-2.0
// The rows of a verdict in the order in which every report tells them: what blocks first, then by
// how bad it is.
#pragma once

#include <string>
#include <vector>

#include "gate/documents/documents.hpp"

namespace holdfast::gate {

const char* meaning(int exit);  // "a blocking regression"
// The same, or why exit 0 is less than well: "passed; 140 of 160 times and ratios not gated here".
std::string outcome(const Verdict& verdict);
// "held against: 212 what was accepted, 44 the base beside it, 3 nothing"; counts of values that
// gate.
std::string held_line(const Verdict& verdict);
// "LOOSENED", "ACCEPTED" or, of what lets no more pass, "changed".
const char* name_of(const RuleChange& change);

// Rows of one verdict on one variant, which are told together.
struct RowGroup {
  const Row* head = nullptr;
  std::vector<const Row*> rows = {};
};

// Without what passes, or is new and blocks nothing; worst first. They point into `verdict`.
std::vector<RowGroup> row_groups(const Verdict& verdict, bool blocking_only);
std::vector<const Row*> worst_rows(const Verdict& verdict);

}  // namespace holdfast::gate
