// SPDX-License-Identifier: Apache-2.0
// Times one case in two builds, unit by unit, until it is decided which is slower.
#pragma once

#include <functional>
#include <string>

#include "gate/compare/builds.hpp"
#include "gate/compare/sequential.hpp"
#include "gate/compare/units.hpp"

namespace holdfast::gate {

struct ComparisonPlan {
  UnitPlan unit = {};
  SequencePlan decision = {};
};

// The budget where everything takes `stretch` times as long as at rest: that many times `at_rest`,
// four at most.
double stretched_budget(double at_rest, double stretch);

// A case of two builds, unit by unit.
class PairedRun {
 public:
  PairedRun(const Builds& builds, const std::string& case_id, const ComparisonPlan& plan)
      : units_(builds, case_id, plan.unit), sequence_(plan.decision) {}

  // Runs units until the case is decided or its seconds are spent. Throws as Units does; `watch` is
  // called after each unit.
  using Watch = std::function<void(const Comparison&)>;
  void go_on(const Watch& watch);
  bool wants_unit() const { return sequence_.wants_unit(); }
  void give(double seconds) { sequence_.give(seconds); }
  void end() { sequence_.end(); }
  const Comparison& found() const { return sequence_.found(); }

 private:
  Units units_;
  Sequence sequence_;
};

// Runs a PairedRun to its end.
Comparison compare(const Builds& builds, const std::string& case_id, const ComparisonPlan& plan,
                   const PairedRun::Watch& watch = {});

}  // namespace holdfast::gate
