// SPDX-License-Identifier: Apache-2.0
// One metric against its baseline and its bounds: pure functions from numbers to a verdict.
#pragma once

#include <optional>
#include <string>

#include "gate/documents.hpp"
#include "gate/policy.hpp"

namespace holdfast::gate {

namespace verdict {
inline constexpr const char* pass = "PASS";
inline constexpr const char* regression = "REGRESSION";
inline constexpr const char* improved = "IMPROVED";
inline constexpr const char* accepted = "ACCEPTED";
inline constexpr const char* drift = "DRIFT";
inline constexpr const char* environment = "ENV";
inline constexpr const char* noisy = "NOISY";
inline constexpr const char* fresh = "NEW";
inline constexpr const char* missing = "MISSING";
inline constexpr const char* wrong = "WRONG";
inline constexpr const char* suspect_fast = "SUSPECT-FAST";
inline constexpr const char* skipped = "SKIPPED";
inline constexpr const char* waived = "WAIVED";
}  // namespace verdict

// Processes without which a ratio or a time is not decided.
inline constexpr std::size_t enough_processes = 5;

// What was measured of one metric.
struct Measured {
  Value value;
  std::optional<double> mad_between = {};
  std::size_t processes = 1;
};

struct Judgement {
  std::string verdict = verdict::pass;
  std::optional<double> change = {};  // value / baseline - 1
  std::optional<double> limit = {};  // the change at which a worsening begins; signed like `change`
  std::string because = {};          // completes "<metric> ..."
  double worsening = 0;              // log ratio, positive when worse; for time and ratio
  double log_limit = 0;

  bool suspect() const { return worsening > log_limit && log_limit > 0; }
};

// exact and codegen: equal within the tolerance or not.
Judgement judge_exact(const Standard& standard, const Measured& measured, const Value& baseline);

// ratio and time: the screening rule. A change beyond the limit is decided only beyond twice the
// limit.
Judgement judge_screened(const Standard& standard, const Measured& measured, const Entry& entry);

// A time or a ratio against the entry's anchor: completes "<metric> ..." where many small steps
// have led too far from it; empty where they have not.
std::optional<std::string> drift(const Standard& standard, const Entry& entry, double value);

Judgement judge(const Standard& standard, const Measured& measured, const Entry& entry);

// The sentence about a violated bound, which completes "<metric> ...".
std::optional<std::string> violation(const Bound& bound, double value, const std::string& unit);

// 412 us, 1177856 B, 18.05, sha256:1a2b3c4d.
std::string readable(const Value& value, const std::string& unit);
// The unit that a metric's name tells: "s" of time_s, "B" of peak_bytes, else none.
std::string unit_of_name(const std::string& metric);
// "+8.5 %"
std::string percent(double fraction);

// A log worsening: a baseline under which half the speed may be lost decides nothing.
inline constexpr double widest_limit = 0.7;

// The largest log worsening that passes: the tolerance, or what the spread of the baseline's own
// runs explains.
double screening_limit(double tolerance, const Entry& entry);

}  // namespace holdfast::gate
