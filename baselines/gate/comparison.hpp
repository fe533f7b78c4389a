// SPDX-License-Identifier: Apache-2.0
// Two builds of one case, timed in lock step: two processes, one sample each in turn, a fresh pair
// for each unit. What the machine does meanwhile happens to both.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "gate/paired.hpp"
#include "gate/process.hpp"

namespace holdfast::gate {

// Two builds of one suite, copied to paths of equal length: the length of a program's path alone
// can move a kernel by a quarter, through the alignment of its stack and mappings.
class Builds {
 public:
  struct Build {
    std::filesystem::path binary;
    std::map<std::string, std::string> environment = {};  // on top of this process's own
  };
  // Throws Error(bad_input) where a binary cannot be copied.
  Builds(const Build& base, const Build& head);
  const Build& base() const { return base_; }
  const Build& head() const { return head_; }

 private:
  TemporaryFolder folder_{"compare"};
  Build base_, head_;
};

struct ComparisonPlan {
  std::string device = "host";
  double tolerance = 0.02;
  double budget_seconds = 60;
  double unit_seconds = 0.3;  // that a pair of processes is asked for samples
  double answer_seconds = 120;
  bool cpu_clock = false;  // the process's CPU time decides, not the real time
  Looks looks = {};
};

struct Comparison {
  Paired decision = Paired::undecided;
  Shift shift = {};                   // of ln(head / base), at the last look
  std::optional<Shift> control = {};  // the same of the reference variant
  std::vector<double> units = {};     // ln(head / base), one per pair of processes
  double seconds = 0;                 // spent
  std::optional<std::string> modes = {};
};

// Throws Error(incomplete) where a build cannot time the case. `watch` is called after each unit.
Comparison compare(const Builds& builds, const std::string& case_id, const ComparisonPlan& plan,
                   const std::function<void(const Comparison&)>& watch = {});

// "+8.3 % (+8.1 % .. +8.6 %), 20 units in 7.1 s, the reference +0.1 %; the smallest slowdown that
// this run could have shown: 2.3 %".
std::string describe(const Comparison& comparison, double tolerance);

}  // namespace holdfast::gate
