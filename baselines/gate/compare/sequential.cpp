// SPDX-License-Identifier: Apache-2.0
#include "gate/compare/sequential.hpp"

#include <algorithm>
#include <cmath>

#include "gate/base/error.hpp"
#include "gate/base/numbers.hpp"
#include "gate/documents/verdict_names.hpp"

namespace holdfast::gate {
namespace {

// A share of the machine's CPUs: beyond it real time says more about other work than about ours.
constexpr double clear_load = 0.1;
// The control is reported with every decision, and needs units of its own before it can excuse one.
constexpr std::size_t control_units = 7;
constexpr std::size_t units_per_control = 8;
constexpr double control_alpha = 0.05;
// A share of the samples: beyond it the remaining ones are exceptional, and decide nothing.
constexpr double most_disturbed = 0.25;
constexpr double more_than_one_thread = 1.2;  // at once, in the mean
// The number of threads that work at once is blurred by other work that they wait for.
constexpr double parallelism_tolerance = 0.1;

// Whether the reference moved in the same direction, clearly by at least half as much, and what it
// leaves of the shift is within the tolerance.
bool moved_as_much(const Shift& shift, const Shift& control, double tolerance) {
  const double sign = shift.estimate < 0 ? -1 : 1;
  const double surely = sign > 0 ? control.lower : -control.upper;
  return surely >= sign * shift.estimate / 2 &&
         sign * (shift.estimate - control.estimate) <= std::log1p(tolerance);
}

bool has_control(std::size_t unit) {
  return unit < 2 * control_units ? unit % 2 == 0 : unit % units_per_control == 0;
}

std::string shown(double log_ratio) {
  return std::isfinite(log_ratio) ? percent(std::expm1(log_ratio)) : "unbounded";
}

}  // namespace

bool Sequence::wants_unit() const {
  return found_.decision == Paired::undecided && found_.seconds < plan_.budget_seconds &&
         static_cast<int>(units_.size()) < plan_.looks.units.back();
}

bool Sequence::wants_control() const {
  return has_control(units_.size());
}

void Sequence::add(const UnitValue& unit) {
  const bool controlled = wants_control();  // a recorded unit always has one
  UnitValue& kept = units_.emplace_back(unit);
  if (!controlled) kept.control.reset();
  found_.seconds += kept.seconds + (kept.control ? kept.control->seconds : 0);
  found_.units = by(found_.clock);
  found_.alternating = found_.alternating || !unit.in_turn;

  if (const auto alpha = plan_.looks.alpha_at(static_cast<int>(units_.size()))) look(*alpha);
}

void Sequence::give(double seconds) {
  plan_.budget_seconds = std::max(plan_.budget_seconds, found_.seconds) + seconds;
}

void Sequence::end() {
  if (found_.decision != Paired::undecided || units_.empty()) return;
  const double rest = plan_.looks.rest_after(static_cast<int>(units_.size()));
  if (rest > 0) look(rest);
}

// Chosen once, and only by the load of other work: a clock chosen by the results would favour the
// result that it was chosen for.
void Sequence::choose_clock() {
  if (found_.clock != Clock::by_load) return;
  std::vector<double> others;
  for (const UnitValue& unit : units_) others.push_back(unit.others);
  found_.others = median(others);
  found_.is_clock_by_load = plan_.clock == Clock::by_load;
  found_.clock = !found_.is_clock_by_load     ? plan_.clock
                 : found_.others > clear_load ? Clock::cpu
                                              : Clock::real;
}

void Sequence::look(double alpha) {
  choose_clock();
  const Clock other = found_.clock == Clock::cpu ? Clock::real : Clock::cpu;
  found_.units = by(found_.clock);
  found_.shift = shift(found_.units, alpha);
  found_.by_other_clock = shift(by(other), alpha).estimate;
  found_.decision = verdict_of(found_.shift, plan_.tolerance);
  if (found_.clock == Clock::cpu) judge_parallelism(alpha);
  if (was_disturbed() || has_lost_its_threads(alpha) || slows_in_the_mean(alpha))
    found_.decision = Paired::undecided;
  found_.modes = two_modes(found_.units);
  found_.control_units = control_by(found_.clock);
  if (found_.control_units.empty()) return;
  found_.control = shift(found_.control_units, control_alpha);
  // If threads were lost, the reference's time explains nothing.
  const bool by_time = found_.decision == verdict_of(found_.shift, plan_.tolerance);
  const bool moved = found_.decision == Paired::regression || found_.decision == Paired::improved;
  if (by_time && moved && moved_as_much(found_.shift, *found_.control, plan_.tolerance))
    found_.decision = Paired::environment;
}

bool Sequence::was_disturbed() {
  double sum = 0;
  for (const UnitValue& unit : units_) sum += unit.disturbed;
  found_.disturbed = sum / static_cast<double>(units_.size());
  return found_.disturbed > most_disturbed;
}

// Equal CPU time and clearly more real time: other work cannot do that to only one side of the
// pairs, but work that is no longer shared among threads does.
bool Sequence::has_lost_its_threads(double alpha) const {
  if (plan_.clock != Clock::by_load || found_.clock != Clock::cpu) return false;
  if (found_.decision == Paired::regression) return false;
  return shift(by(Clock::real), alpha).lower > std::log1p(plan_.tolerance);
}

// A first quartile shows no slowdown of fewer than three steps in four, but the mean does. It
// confirms no loss, because it is less robust, and its estimate is enough to keep from a pass.
bool Sequence::slows_in_the_mean(double alpha) {
  found_.means.reset();
  if (found_.decision != Paired::pass && found_.decision != Paired::improved) return false;
  std::vector<double> told;
  for (const UnitValue& unit : units_)
    if (unit.means) told.push_back(found_.clock == Clock::cpu ? unit.means->cpu : unit.means->real);
  if (told.size() < units_.size()) return false;
  const Shift means = shift(told, alpha);
  if (!(means.estimate > std::log1p(plan_.tolerance))) return false;
  found_.means = means;
  return true;
}

bool Sequence::has_several_threads() const {
  return std::any_of(units_.begin(), units_.end(),
                     [](const UnitValue& unit) { return unit.threads > more_than_one_thread; });
}

// Whatever others do, real time is CPU time plus time waiting for a CPU, divided by the threads
// that do either at once. Work that is no longer shared among threads costs no CPU time but lowers
// their number, and so does a thread that sleeps or waits for a file. Without these numbers nothing
// is decided of several threads.
void Sequence::judge_parallelism(double alpha) {
  std::vector<double> told;
  for (const UnitValue& unit : units_)
    if (unit.at_once) told.push_back(*unit.at_once);
  found_.parallelism.reset();
  if (told.size() == units_.size())
    found_.parallelism = shift(told, alpha);
  else if (!has_several_threads())
    return;
  if (found_.decision != Paired::pass && found_.decision != Paired::improved) return;
  const double most = std::log1p(-parallelism_tolerance);
  if (found_.parallelism && found_.parallelism->upper < most)
    found_.decision = Paired::regression;
  else if (!found_.parallelism || !(found_.parallelism->lower > most))
    found_.decision = Paired::undecided;
}

std::vector<double> Sequence::by(Clock clock) const {
  std::vector<double> values;
  for (const UnitValue& unit : units_) values.push_back(clock == Clock::cpu ? unit.cpu : unit.real);
  return values;
}

std::vector<double> Sequence::control_by(Clock clock) const {
  std::vector<double> values;
  for (const UnitValue& unit : units_)
    if (unit.control)
      values.push_back(clock == Clock::cpu ? unit.control->cpu : unit.control->real);
  return values;
}

// Whatever happens to the machine happens to both sides of a pair, so a shift that the reference
// shares comes from code that both variants share.
Paired of_time(const Comparison& comparison) {
  if (comparison.decision != Paired::environment) return comparison.decision;
  return comparison.shift.estimate > 0 ? Paired::regression : Paired::improved;
}

const char* name_of(Paired decision) {
  switch (decision) {
    case Paired::regression:
      return verdict::regression;
    case Paired::improved:
      return verdict::improved;
    case Paired::pass:
      return verdict::pass;
    case Paired::environment:
      return verdict::environment;
    case Paired::undecided:
      break;
  }
  return verdict::noisy;
}

std::string interval(const Shift& shift) {
  return text(shown(shift.lower), " .. ", shown(shift.upper));
}

std::string describe(const Comparison& comparison, double tolerance) {
  const Shift& shift = comparison.shift;
  std::string sentence = text(shown(shift.estimate), " (", interval(shift), "), ",
                              plural(comparison.units.size(), "unit"), " in ",
                              std::round(comparison.seconds * 10) / 10, " s",
                              comparison.alternating ? ", one process at a time" : "");
  if (comparison.clock == Clock::cpu)
    sentence += text(" by CPU time",
                     comparison.is_clock_by_load
                         ? text(", because others had ", std::lround(100 * comparison.others),
                                " % of the machine")
                         : "",
                     " (by real time ", shown(comparison.by_other_clock), ")");
  if (comparison.disturbed > 0)
    sentence += text(", the GPU slowed down or shared in ", percent(comparison.disturbed).substr(1),
                     " of the samples",
                     comparison.disturbed > most_disturbed ? ", which decide nothing" : "");
  if (comparison.parallelism)
    sentence += text(", threads running at once ", shown(comparison.parallelism->estimate), " (",
                     interval(*comparison.parallelism), ")");
  if (comparison.means)
    sentence += text(", but in the mean ", shown(comparison.means->estimate), " (",
                     interval(*comparison.means), "), so that it does not pass");
  if (comparison.control) sentence += text(", the reference ", shown(comparison.control->estimate));
  if (comparison.decision == Paired::environment)
    sentence += " as well, so that it is in what both variants share";
  if (std::isfinite(shift.lower))
    sentence += text("; the smallest slowdown that this run could have shown: ",
                     percent(smallest_shown(shift, tolerance)).substr(1));
  if (comparison.modes) sentence += "; " + *comparison.modes;
  return sentence;
}

}  // namespace holdfast::gate
