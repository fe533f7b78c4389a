// SPDX-License-Identifier: Apache-2.0
// One metric against its baseline and its bounds: pure functions from numbers to a verdict.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string>

#include "gate/documents/baseline.hpp"
#include "gate/documents/measured.hpp"
#include "gate/documents/policy/policy.hpp"
#include "gate/documents/verdict_names.hpp"

namespace holdfast::gate {

struct Judgement {
  std::string verdict = verdict::pass;
  std::optional<double> change = {};  // value / baseline - 1
  std::optional<double> limit = {};  // the change at which a worsening begins; signed like `change`
  std::string because = {};          // completes "<metric> ..."
  double worsening = 0;              // log ratio, positive when worse; for time and ratio
  double log_limit = 0;
  bool worth_comparing = false;  // in lock step, though it passes

  bool suspect() const { return worsening > log_limit; }
  // How many limits the worsening is; a tolerance of 0 makes a limit of 0.
  double in_limits() const { return worsening / std::max(log_limit, 1e-6); }
};

// In Standard::fall_is_change: no fall of the metric is a gain by itself.
inline constexpr const char* every_fall = "*";

// exact and codegen: equal within the tolerance or not.
Judgement judge_exact(const Standard& standard, const Measured& measured, const Value& baseline);

// ratio and time: the screening rule. A change beyond the limit is decided beyond twice the limit,
// or where each of the runs that measured the same build `again` is beyond the limit as well.
Judgement judge_screened(const Standard& standard, const Measured& measured, const Entry& entry,
                         std::span<const Measured> again = {});

// ratio and time, against another build's values of the same run, process by process. What moved
// beyond half the limit is worth a comparison in lock step, if there is one.
Judgement judge_beside(const Standard& standard, const Measured& measured, const Measured& base);

// The loss that a comparison in lock step finds nine times of ten.
inline constexpr double lock_step_resolution = 0.05;

// The smallest log worsening that judge_beside() and judge_screened() would call a REGRESSION in a
// measurement of this noise; with `confirmed` if a comparison looks at suspects.
double resolution_beside(const Standard& standard, const Measured& measured, const Measured& base,
                         bool confirmed);
double resolution_screened(const Standard& standard, const Measured& measured, const Entry& entry,
                           bool confirmed);

// A time or ratio against the entry's anchor: completes "<metric> ..." if many small steps led too
// far from it; else empty. The spread of the accepted runs excuses nothing here, because it
// includes such steps.
std::optional<std::string> drift(const Standard& standard, const Entry& entry, double value);
// The largest log worsening from the anchor that is not drift.
double drift_limit(const Entry& entry);

Judgement judge(const Standard& standard, const Measured& measured, const Entry& entry,
                std::span<const Measured> again = {});

// The sentence about a violated bound, which completes "<metric> ...".
std::optional<std::string> violation(const Bound& bound, double value, const std::string& unit);

// Whether its value comes from the clock, so that each undisturbed process has its own: a time, a
// ratio, or a bound on a value made of times.
bool is_sampled(const Standard& standard, const Measured& measured);

// How processes vote on a bound, for such a metric and for one that they read differently; any
// other metric has its one value.
struct BoundVotes {
  std::size_t all = 0;
  std::size_t beyond = 0;
  bool enough = true;    // to be sure that it is kept
  bool certain = false;  // that it is violated
};
BoundVotes vote(const Standard& standard, const Bound& bound, const Measured& measured);

// A log worsening: a baseline under which half the speed may be lost decides nothing.
inline constexpr double widest_limit = 0.7;

// The largest log worsening that passes: the tolerance, or what the spread of the baseline's own
// runs explains, from eight runs on without their trend.
double screening_limit(double tolerance, const Entry& entry);

}  // namespace holdfast::gate
