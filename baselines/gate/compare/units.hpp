// SPDX-License-Identifier: Apache-2.0
// The units of a comparison, each two fresh processes, one of each build. Both run at once and give
// samples in turn, so that the machine affects both alike; or, where a GPU takes only one of them
// at a time, they run one after the other, and in reverse order in the next unit.
#pragma once

#include <optional>
#include <random>
#include <string>
#include <utility>

#include "gate/compare/builds.hpp"
#include "gate/compare/sequential.hpp"

namespace holdfast::gate {

struct UnitPlan {
  std::string device = "host";
  double seconds = 0.3;  // for which processes are asked for samples, at least
  double answer_seconds = 120;
  bool alternating = false;  // one process at a time, even if the device takes two
};

// Seconds for which a pair is asked for samples that was ready after so many seconds: beside other
// work that takes long, and few samples would waste it.
double sampling_seconds(double least, double ready);

// The share of the machine that other work took from the samples, given the share of their time
// that their threads waited for a CPU: a process with priority never waits.
double others_felt(double share, std::optional<double> waited);

class Units {
 public:
  Units(const Builds& builds, std::string case_id, UnitPlan plan)
      : builds_(builds), case_id_(std::move(case_id)), plan_(std::move(plan)) {}

  // `control` asks for the reference variant as well. Throws BuildError where a build cannot time
  // the case.
  UnitValue next(bool control);

 private:
  UnitValue in_lock_step(bool control);
  UnitValue in_alternation(bool control);

  const Builds& builds_;
  std::string case_id_;
  UnitPlan plan_;
  std::mt19937_64 random_{std::random_device{}()};
  // In alternation: who goes first in the next unit, drawn for every other one; the most steps that
  // a process wanted in a sample.
  bool base_first_ = false, is_drawn_ = false;
  int batch_ = 0;
};

}  // namespace holdfast::gate
