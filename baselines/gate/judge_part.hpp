// SPDX-License-Identifier: Apache-2.0
// One part against its list, its baseline and the policy: every case and metric that should be
// there, and what all of them together say about the machine.
#pragma once

#include <string>
#include <vector>

#include "gate/part.hpp"
#include "gate/policy.hpp"

namespace holdfast::gate {

struct PartVerdict {
  std::vector<Row> rows = {};
  std::vector<std::string> notes = {};
  std::vector<std::string> not_checked = {};
  int exit = 0;
};

PartVerdict judge_part(const Part& part, const Policy& policy, bool require_baseline,
                       bool undecided_fails);

}  // namespace holdfast::gate
