// SPDX-License-Identifier: Apache-2.0
// One paired comparison while its units come in: two clocks, a control, and when enough is known.
// It starts nothing: `holdfast ab` and `check --confirm` feed it live units, planted_slowdowns
// recorded ones.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gate/compare/signed_rank.hpp"

namespace holdfast::gate {

// What one pair of fresh processes says of ln(head / base).
struct UnitValue {
  double real = 0;       // by the clock on the wall; on a GPU by the device's
  double cpu = 0;        // by the processes' CPU time; on a GPU the same as `real`
  double seconds = 0;    // that it took, without its control
  double others = 0;     // the part of the machine's CPUs that other work had meanwhile, and kept
                         // from it
  double disturbed = 0;  // the part of its samples in which the GPU was slowed down or shared
  double threads = 1;    // that ran or waited for a CPU at once, where a step had most of them
  std::optional<double> at_once = {};  // ln(head / base) of such threads; empty where nobody told
  bool in_turn = true;                 // sample by sample; else one process after the other
  // Of the reference variant, which the change did not mean to touch.
  struct Control {
    double real = 0, cpu = 0, seconds = 0;
  };
  std::optional<Control> control = {};
};

enum class Clock { by_load, real, cpu };

struct SequencePlan {
  double tolerance = 0.02;
  double budget_seconds = 60;
  Clock clock = Clock::by_load;
  Looks looks = {};
};

struct Comparison {
  Paired decision = Paired::undecided;
  Shift shift = {};                   // of ln(head / base), at the last look
  Clock clock = Clock::by_load;       // that decided; by_load before the first look
  double by_other_clock = 0;          // the estimate that does not decide
  std::optional<Shift> control = {};  // of the reference variant
  std::vector<double> units = {};     // ln(head / base), one per pair of processes
  std::vector<double> control_units = {};
  // ln(head / base) of the threads that ran or waited for a CPU at once; empty where no several
  // threads were seen, or CPU time did not decide.
  std::optional<Shift> parallelism = {};
  double seconds = 0;    // spent
  double others = 0;     // the median over the units
  double disturbed = 0;  // the mean over the units
  std::optional<std::string> modes = {};
  bool alternating = false;  // one process after the other, in a unit at least
};

class Sequence {
 public:
  explicit Sequence(SequencePlan plan) : plan_(std::move(plan)) {}
  bool wants_unit() const;     // undecided, and neither the budget nor the looks are spent
  bool wants_control() const;  // of the next unit
  void add(const UnitValue& unit);
  // More seconds; how many must not depend on what the units say.
  void give(double seconds);
  // The last look, where nothing is decided. No unit comes after it.
  void end();
  const Comparison& found() const { return found_; }

 private:
  void look(double alpha);
  void choose_clock();
  bool was_disturbed();
  bool has_lost_its_threads(double alpha) const;
  bool has_several_threads() const;
  void judge_parallelism(double alpha);
  std::vector<double> by(Clock clock) const;
  std::vector<double> control_by(Clock clock) const;

  SequencePlan plan_;
  std::vector<UnitValue> units_ = {};
  Comparison found_ = {};
};

// Of the step's own time, where a reference that moved as much excuses nothing; it does excuse the
// ratio of the two.
Paired of_time(const Comparison& comparison);

// As a verdict is called; undecided is NOISY.
const char* name_of(Paired decision);

// "+8.3 % .. +8.8 %"
std::string interval(const Shift& shift);

// "+8.5 % (+8.3 % .. +8.8 %), 20 units in 7.1 s, the reference +0.1 %; the smallest slowdown that
// this run could have shown: 2.3 %".
std::string describe(const Comparison& comparison, double tolerance);

}  // namespace holdfast::gate
