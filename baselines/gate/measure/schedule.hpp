// SPDX-License-Identifier: Apache-2.0
// Which cases another process is worth: pure functions of what the processes before it found.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gate/documents/measured_part.hpp"
#include "gate/documents/results.hpp"

namespace holdfast::gate {

// Of one case, what the processes that measured it reported, in their order.
using CaseRecords = std::vector<const CaseResult*>;
CaseRecords records_of(const std::string& id, const std::vector<Results>& processes);

// Whether a metric takes its value from the clock: a time, a ratio of times, and a bound on seconds
// or, where it is `derived`, on one reading over another of the same run. Where nothing is executed
// seconds are those of one compiler.
bool is_clocked(const std::string& name, const Metric& metric, bool executed, bool derived);

// Whether its threads waited for a CPU while it was timed: of two sides that use the machine
// differently the ratio is then the machine's.
inline constexpr const char* waited_metric = "waited_fraction";
bool is_disturbed(const CaseResult& result);

// Seconds of a hand-over between threads in most cases of these, and of those that took turns with
// them: how far apart the processors usually stood. 0 where none tells.
double usual_handover(const std::vector<Results>& processes,
                      const std::vector<Results>& beside = {});

// Of each whether what the clock said of it is left out: disturbed ones, and where five others
// remain those whose processors stood further apart or closer than usual (in two halves of one
// core), and those on shared cores.
std::vector<bool> left_out(const CaseRecords& records, double usual_handover);

// Half of the 95 % interval of the mean of the logs; empty for fewer than two values.
std::optional<double> half_width(const std::vector<double>& values);

// Whether the machine had a part in what any of its processes found: others had its CPUs or the
// other halves of its cores, or its processors stood otherwise than usual.
bool was_bent(const CaseRecords& records, double usual_handover);

// How many processes are to measure a case. A timed one is unsettled while its ratios are not known
// within the limit, or fewer than `fewest` processes were undisturbed, on cores of their own that
// stood as usual. It is promising where a further process may change that.
struct Effort {
  std::int64_t fewest = 1;             // of a case in which anything is timed
  std::int64_t most = 1;               // of one that is unsettled
  std::int64_t most_if_promising = 1;  // of one that is still unsettled then
  std::int64_t counted = 2;            // of a case that has nothing but counts
  double limit = 0.05;                 // as a log
};

// Whether a further process is to measure the case.
bool wants_another(const CaseRecords& records, double usual_handover, const Effort& effort);

}  // namespace holdfast::gate
