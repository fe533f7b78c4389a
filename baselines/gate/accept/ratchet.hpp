// SPDX-License-Identifier: Apache-2.0
// The ratchet: what became better for good is proposed as the next baseline, and never accepted by
// itself. A count is better for good at once. A ratio or a time is where each of several runs in a
// row is beyond its limit, so that one lucky run moves nothing, and one within the limit begins the
// count anew.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "gate/accept/accept.hpp"
#include "gate/documents/again.hpp"
#include "gate/documents/aliases.hpp"

namespace holdfast::gate {

inline constexpr std::size_t runs_in_a_row = 3;        // of the history, this one among them
inline constexpr std::size_t fresh_runs_in_a_row = 2;  // of one build, this one among them

// What other runs measured of each metric, oldest first.
struct OtherRuns {
  // Of the same class and tools, before this run; by entry key.
  std::map<std::string, std::vector<double>> history = {};
  MeasuredAgain fresh = {};  // of the same build
};

// With what the history in `store` knows of this part; none where that is empty.
OtherRuns other_runs(const Results& results, const std::filesystem::path& store,
                     MeasuredAgain fresh, const Aliases& aliases);

struct Ratchet {
  Baseline baseline;  // the existing one with the entries that are proposed
  std::vector<Change> changes = {};
  std::map<std::string, std::string> told = {};  // by entry key: what is proposed, or still lacks
};

Ratchet ratchet(const Results& results, const Baseline& existing, const Policy& policy,
                const OtherRuns& others);

}  // namespace holdfast::gate
