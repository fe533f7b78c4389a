// SPDX-License-Identifier: Apache-2.0
// What a baseline becomes when a measurement is accepted: a pure function, used by `baseline
// accept`, by `baseline diff` and for the patch that a failing check proposes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gate/accept/refusals.hpp"
#include "gate/documents/baseline.hpp"
#include "gate/documents/policy.hpp"
#include "gate/documents/results.hpp"
#include "gate/documents/verdict_names.hpp"

namespace holdfast::gate {

struct Change {
  std::string key;
  std::optional<Value> before = {};  // empty: a new entry
  std::optional<Value> after = {};   // empty: an entry that goes
  std::string asks_why = {};  // what of it needs a reason: "worse", "undecided" ...; empty: nothing
};

struct Acceptable {
  Baseline baseline;
  std::vector<Change> changes = {};
  std::vector<Refusal> refusals = {};      // why the baseline must not be stored as it is
  std::vector<std::string> left_out = {};  // runs that do not join an entry, in a sentence each
};

// Where drift is measured from: the first accepted value, or a later one that was better than it;
// or, at a release, what this run makes of the entries, which needs a reason where it is worse.
enum class Anchor { kept, here };

struct AcceptOptions {
  std::string why = {};  // empty: each entry gets a plain reason of its own
  Anchor anchor = Anchor::kept;
  std::vector<Results> again = {};  // other runs of the same build on the same processor
  // What is counted alone, from a machine that was too busy to time anything: times and ratios stay
  // as they were accepted.
  bool counts_only = false;
};

// Entries that the measurement agrees with stay as they are; a ratio or a time that agrees adds its
// runs to them, each once. Of several runs the middle is held against an entry, which those join
// that agree by themselves; all of them found a new one, so that from five runs on its limit knows
// how much they differ; left out of a ratio or a time are runs whose processes do not agree on it,
// and those of a case in which the threads' processors stood further apart. Refused are a ratio
// that no run shows, runs that differ in a count, and an entry that blocks and is too wide to
// decide anything. `policy` knows the metrics of the suite's list, which are accepted as well.
Acceptable accept(const Results& results, const std::optional<Baseline>& existing,
                  const Policy& policy, const AcceptOptions& options = {});

}  // namespace holdfast::gate
