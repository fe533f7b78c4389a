// SPDX-License-Identifier: Apache-2.0
// The ratchet: a lasting improvement is proposed as the next baseline, and never accepted by
// itself. For a count, one run is enough. A ratio or time needs several runs in a row beyond its
// limit: one lucky run moves nothing, and one within the limit restarts the count.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "gate/accept/accept.hpp"
#include "gate/documents/again.hpp"
#include "gate/documents/aliases.hpp"

namespace holdfast::gate {

inline constexpr std::size_t runs_in_a_row = 3;        // of the history, including this one
inline constexpr std::size_t fresh_runs_in_a_row = 2;  // of one build, including this one

// What a run measured of a metric.
struct ValueOfRun {
  double value = 0;
  std::string run = {};  // its id
};

// What other runs measured of each metric, oldest first.
struct OtherRuns {
  // By entry key: earlier runs of the same class and tools.
  std::map<std::string, std::vector<ValueOfRun>> history = {};
  MeasuredAgain fresh = {};  // of the same build
};

// Includes what the history in `store` knows of this part; nothing if `store` is empty.
OtherRuns other_runs(const Results& results, const std::filesystem::path& store,
                     MeasuredAgain fresh, const Aliases& aliases);

struct Ratchet {
  Baseline baseline;  // the existing one with the entries that are proposed
  std::vector<Change> changes = {};
  std::map<std::string, std::string> told = {};  // by entry key: what is proposed, or still missing
};

Ratchet ratchet(const Results& results, const Baseline& existing, const Policy& policy,
                const OtherRuns& others);

}  // namespace holdfast::gate
