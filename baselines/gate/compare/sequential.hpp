// SPDX-License-Identifier: Apache-2.0
// One paired comparison, unit by unit: two clocks, a control, and when enough is known. It starts
// no process: `holdfast ab` and `check --confirm` feed it live units, planted_slowdowns recorded
// ones.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gate/compare/signed_rank.hpp"

namespace holdfast::gate {

// What one pair of fresh processes says of ln(head / base).
struct UnitValue {
  double real = 0;       // by the wall clock; on a GPU by the device's
  double cpu = 0;        // by the processes' CPU time; on a GPU the same as `real`
  double seconds = 0;    // spent, without its control
  double others = 0;     // the part of the machine's CPUs that other work had meanwhile, and kept
                         // from it
  double disturbed = 0;  // the part of its samples in which the GPU was slowed down or shared
  double threads = 1;    // that ran or waited for a CPU at once, where a step had most of them
  std::optional<double> at_once = {};  // ln(head / base) of such threads; empty where nobody told
  bool in_turn = true;                 // sample by sample; else one process after the other
  // ln(head / base) of trimmed means, where `real` and `cpu` are of first quartiles, which do not
  // show a slowdown of some steps alone; empty where nobody told.
  struct Means {
    double real = 0, cpu = 0;
  };
  std::optional<Means> means = {};
  // The reference variant, which the change did not mean to touch.
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
  bool is_clock_by_load = false;      // chosen by the load of others, not asked for
  double by_other_clock = 0;          // the estimate that does not decide
  std::optional<Shift> control = {};  // of the reference variant
  std::vector<double> units = {};     // ln(head / base), one per pair of processes
  std::vector<double> control_units = {};
  // ln(head / base) of the threads that ran or waited for a CPU at once; empty if a unit does not
  // report it, or CPU time did not decide.
  std::optional<Shift> parallelism = {};
  // ln(head / base) of trimmed means, where its estimate is beyond the tolerance and keeps the
  // rest from being a pass.
  std::optional<Shift> means = {};
  double seconds = 0;    // spent
  double others = 0;     // the median over the units of the first look, which chooses the clock
  double disturbed = 0;  // the mean over the units
  std::optional<std::string> modes = {};
  bool alternating = false;  // in one unit at least, one process after the other
};

class Sequence {
 public:
  explicit Sequence(SequencePlan plan) : plan_(std::move(plan)) {}
  bool wants_unit() const;     // undecided, and neither the budget nor the looks are spent
  bool wants_control() const;  // of the next unit
  void add(const UnitValue& unit);
  // Adds seconds; their number must not depend on what the units say.
  void give(double seconds);
  // Takes the last look if nothing is decided yet. No unit may follow.
  void end();
  const Comparison& found() const { return found_; }

 private:
  void look(double alpha);
  void choose_clock();
  bool was_disturbed();
  bool has_lost_its_threads(double alpha) const;
  bool slows_in_the_mean(double alpha);
  bool has_several_threads() const;
  void judge_parallelism(double alpha);
  std::vector<double> by(Clock clock) const;
  std::vector<double> control_by(Clock clock) const;

  SequencePlan plan_;
  std::vector<UnitValue> units_ = {};
  Comparison found_ = {};
};

// The decision on the step's own time: a reference that moved as much excuses their ratio, but not
// the time.
Paired of_time(const Comparison& comparison);

// The name of a decision as a verdict; undecided is NOISY.
const char* name_of(Paired decision);

// "+8.3 % .. +8.8 %"
std::string interval(const Shift& shift);

// "+8.5 % (+8.3 % .. +8.8 %), 20 units in 7.1 s, the reference +0.1 %; the smallest slowdown that
// this run could have shown: 2.3 %".
std::string describe(const Comparison& comparison, double tolerance);

}  // namespace holdfast::gate
