// SPDX-License-Identifier: Apache-2.0
// The units of a comparison: two fresh processes each, one of each build. Both at once and a sample
// from each in turn, so that what the machine does meanwhile happens to both; or, where a GPU takes
// only one of them at a time, one after the other and the other way round in the next unit.
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
  double seconds = 0.3;  // that processes are asked for samples, at least
  double answer_seconds = 120;
  bool alternating = false;  // one process at a time, whatever the device takes
};

// Seconds that a pair is asked for samples which was ready after so many: beside others that takes
// long, and few samples of it would be wasted.
double sampling_seconds(double least, double ready);

// What others had of the machine as far as samples felt it, whose threads waited for a CPU for such
// a share of their time: one that goes before others never does.
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
