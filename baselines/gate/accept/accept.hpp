// SPDX-License-Identifier: Apache-2.0
// What a baseline becomes when a measurement is accepted: a pure function, used by `baseline
// accept`, by `baseline diff` and for the patch that a failing check proposes.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "gate/accept/refusals.hpp"
#include "gate/documents/baseline.hpp"
#include "gate/documents/policy/policy.hpp"
#include "gate/documents/results.hpp"
#include "gate/documents/verdict_names.hpp"

namespace holdfast::gate {

struct Change {
  std::string key;
  std::optional<Value> before = {};  // empty: a new entry
  std::optional<Value> after = {};   // empty: a removed entry
  std::string asks_why = {};         // why it needs a reason: "worse", "undecided" ...; else empty
};

struct Acceptable {
  Baseline baseline;
  std::vector<Change> changes = {};
  std::vector<Refusal> refusals = {};  // why the baseline must not be stored as it is
  // Runs that do not join an entry, and cases that keep theirs unmeasured, in a sentence each.
  std::vector<std::string> left_out = {};
};

// Where drift is measured from. kept: the first accepted value, or a later, better one. here: the
// values of this run, as at a release; a worse one needs a reason.
enum class Anchor { kept, here };

struct AcceptOptions {
  std::string why = {};  // empty: each entry gets a plain reason of its own
  Anchor anchor = Anchor::kept;
  std::vector<Results> again = {};        // other runs of the same build on the same processor
  std::set<std::string> unmeasured = {};  // cases without a result that are not gone
  // Accepts counts only, from a machine that was too busy to time anything; times and ratios stay
  // as they were accepted.
  bool counts_only = false;
};

// Entries that the measurement agrees with stay; a ratio or time that agrees adds its runs to its
// entry, each once. Of several runs the median is judged, and those that agree on their own join
// the entry; a new entry is made from all of them, so that from five runs on its limit knows their
// spread. Left out of a ratio or time are runs whose processes disagree on it, and runs of a case
// whose threads stood further apart. Refused are a ratio that no run shows, runs that differ in a
// count, and a blocking entry that is too wide to decide anything. `policy` knows the metrics of
// the suite's list, which are accepted as well.
Acceptable accept(const Results& results, const std::optional<Baseline>& existing,
                  const Policy& policy, const AcceptOptions& options = {});

}  // namespace holdfast::gate
