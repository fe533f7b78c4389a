// SPDX-License-Identifier: Apache-2.0
// One part against its list, its baseline and the policy: every case and metric that should be
// there, and what all of them together say about the machine.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "gate/documents/measured_part.hpp"
#include "gate/documents/policy/policy.hpp"
#include "gate/documents/verdict.hpp"

namespace holdfast::gate {

struct PartVerdict {
  std::vector<Row> rows = {};
  std::vector<std::string> notes = {};
  std::vector<std::string> not_checked = {};
  // Values that gate, and those among them that are compared with nothing accepted; times and
  // ratios apart.
  struct Gating {
    std::size_t all = 0, unheld = 0;
  };
  Gating counts = {}, times = {};
  // Accepted values that were not requested, by metric.
  std::map<std::string, std::size_t> unrequested = {};
  int exit = 0;
};

// Decides again the rows of times and ratios that screening found worse or could not decide.
using SecondOpinion =
    std::function<void(const std::vector<Row*>& suspects, std::vector<std::string>& notes)>;

PartVerdict judge_part(const Part& part, const Policy& policy, bool require_baseline,
                       bool undecided_fails, const SecondOpinion& second_opinion = {});

}  // namespace holdfast::gate
