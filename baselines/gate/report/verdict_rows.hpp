// SPDX-License-Identifier: Apache-2.0
// The rows of a verdict in the order in which every report tells them: what blocks first, then by
// how bad it is.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "gate/documents/verdict.hpp"

namespace holdfast::gate {

// What the exit code means: of exit 1 the worst that blocks, "a wrong result"; of exit 0 "well", or
// why it is less than that, "passed; 140 of 160 times and ratios not gated here".
std::string outcome(const Verdict& verdict);
// "compared with: 212 accepted values, 44 values of the base, 3 bounds"; empty where nothing was
// compared with a base.
std::string compared_line(const Verdict& verdict);
// "LOOSENED", "ACCEPTED" or, of what lets no more pass, "changed".
const char* name_of(const RuleChange& change);

// Without what passes, or is new and blocks nothing; worst first. They point into `verdict`.
std::vector<const Row*> worst_rows(const Verdict& verdict);

// What is told together: what one changed kernel did, to however many cases; else rows of one
// verdict on one variant of a case.
struct ToldGroup {
  const Row* head = nullptr;                  // the worst
  std::string code = {};                      // of the head's case, where a kernel is the cause
  std::vector<const Row*> metrics = {};       // of a kernel the worst row of each, blocking first
  std::vector<std::string> other_cases = {};  // of a kernel

  bool blocks() const { return head->blocking; }
  std::map<std::string, std::string> evidence() const;  // of the head's case, but for the code
  std::set<std::string> commands() const;               // that the head's case proposes
};

// In the order of worst_rows(). Kernels of one name are one, whatever their template arguments;
// what is accepted with the change stands apart.
std::vector<ToldGroup> told_groups(const Verdict& verdict, bool blocking_only);

// "and 9 more cases"; empty for none.
std::string more_cases(const ToldGroup& group);

}  // namespace holdfast::gate
