// SPDX-License-Identifier: Apache-2.0
// The runs that are accepted together, and which of them show a metric best.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "gate/documents/measured_part.hpp"
#include "gate/documents/policy.hpp"
#include "gate/documents/results.hpp"

namespace holdfast::gate {

// A run, and what it measured by entry key. What was measured on shared cores is known no better
// than sharing bends it, however well its processes agree.
struct AcceptedRun {
  const Results& results;
  std::string timed_on;  // what it compares within
  std::map<std::string, Measured> metrics = {};
  std::set<std::string> on_shared_cores = {};  // cases

  explicit AcceptedRun(const Results& run);
};

// A gated time or ratio of which no process was undisturbed, or a ratio whose processes differ too
// much to found an entry.
bool is_noisy(const Standard& standard, const Measured& measured);

// The runs that show the metric of the key best: those whose processes agree, on cores of their own
// where any had them, in the first run's state, on processors that stood as close as in any of
// them. Of a single run these are it, or none.
std::vector<const AcceptedRun*> best_shown(const std::vector<AcceptedRun>& runs,
                                           const Standard& standard, const std::string& key);

}  // namespace holdfast::gate
