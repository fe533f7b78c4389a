// SPDX-License-Identifier: Apache-2.0
// The state that a change starts from: its policy, aliases and baselines judge the change, and what
// the change does to them is reported.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "gate/documents/aliases.hpp"
#include "gate/documents/baseline.hpp"
#include "gate/documents/list.hpp"
#include "gate/documents/meaning.hpp"
#include "gate/documents/policy/policy.hpp"
#include "gate/documents/verdict.hpp"

namespace holdfast::gate {

// By place in the store, "devices/<class>/<suite>.json"; cases have the names that they had then.
using Baselines = std::map<std::string, Baseline>;

struct MergeBase {
  std::string commit = {};
  std::shared_ptr<const Policy> policy = {};  // null where it had none
  Aliases aliases = {};
  Baselines baselines = {};
};

// Their places in the working copy.
struct Places {
  std::filesystem::path baselines;
  std::filesystem::path policy;
};

// Leaves out what has expired by `today`. Also reads an older format at its older place.
MergeBase read_merge_base(const Places& given, const std::string& commit, const std::string& today);

// Of a run, by entry key.
using KernelTables = std::map<std::string, std::string>;

// The change, as the working copy has it.
struct ChangeSet {
  const Policy& policy;
  const Aliases& aliases;
  const Baselines& baselines;
  const std::vector<List>& lists;
  bool complete = false;                               // whether the lists are those of all suites
  const std::map<std::string, Fingerprint>& measured;  // the tools of this run, by place
  std::map<std::string, KernelTables> tables = {};     // and what its kernels are given
};

// Metrics of which the merge base holds a value or knows that bounds judge them, by the case's name
// then.
MetricNames known_metrics(const MergeBase& base);

// The name that a case of the merge base has with the change.
std::string present_name(const MergeBase& base, const Aliases& aliases, const std::string& case_id);

// Whether a variant's accepted machine code is the same before and after. The names are of any
// metric of it.
bool has_same_code(const Entries& before, const EntryName& then, const Entries& after,
                   const EntryName& now);

// The reason that the change gives for a removal; empty if the merge base's policy, null if it had
// none, gave it for something else.
std::string reason_of(const Removal* removal, const Policy* before);

// The change's policy, held to the merge base's.
Policy held_to(const MergeBase& base, const ChangeSet& change);

// Where the change's policy differs on metrics that the merge base's decides.
std::vector<RuleChange> policy_changes(const MergeBase& base, const ChangeSet& change);

// Accepted values and tools that the change edits so that more passes, except what only a measured
// value shows.
std::vector<RuleChange> edited_values(const MergeBase& base, const ChangeSet& change);

// What the change does to policy, aliases, cases and accepted values; blocking changes first.
std::vector<RuleChange> changes_since(const MergeBase& base, const ChangeSet& change);

// Metrics for whose change the change's policy gives a reason that the merge base's did not.
std::set<std::string> reasoned_metrics(const MergeBase& base, const Policy& policy,
                                       const Meanings& metrics);

}  // namespace holdfast::gate
