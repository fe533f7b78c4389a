// SPDX-License-Identifier: Apache-2.0
// The runs that are accepted together, and which of them show a metric best.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "gate/documents/measured.hpp"
#include "gate/documents/measured_part.hpp"
#include "gate/documents/policy/policy.hpp"
#include "gate/documents/results.hpp"

namespace holdfast::gate {

// A run and its measurements by entry key. On shared cores a value is no more certain than sharing
// makes it, however well the processes agree.
struct AcceptedRun {
  const Results& results;
  std::string timed_on;  // the processor and its state, within which times compare
  std::map<std::string, Measured> metrics = {};
  std::set<std::string> on_shared_cores = {};  // cases

  explicit AcceptedRun(const Results& run);
};

// Whether no process of a gated time or ratio was undisturbed, or the processes of a ratio differ
// too much to make an entry.
bool is_noisy(const Standard& standard, const Measured& measured);

// The runs that show the metric of the key best: their processes agree, on unshared cores if any
// run had them, in the first run's state, on processors about as close together as in any run.
// Given a single run, returns it or none.
std::vector<const AcceptedRun*> best_shown(const std::vector<AcceptedRun>& runs,
                                           const Standard& standard, const std::string& key);

}  // namespace holdfast::gate
