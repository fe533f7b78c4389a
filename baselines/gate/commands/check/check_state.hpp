// SPDX-License-Identifier: Apache-2.0
// What a check compares with: the policy, aliases and baselines of the working copy or, if a merge
// base is named, those from before the change.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "gate/commands/check/check.hpp"
#include "gate/documents/aliases.hpp"
#include "gate/documents/measured_part.hpp"
#include "gate/documents/policy/policy.hpp"
#include "gate/judge/merge_base.hpp"

namespace holdfast::gate {

class CheckState {
 public:
  // Throws for a file that does not match its place, and Error(incomplete) for a policy or aliases
  // that are in git's index but not in the working copy.
  CheckState(const CheckRequest& request, const Root& root);

  const Policy& own_policy() const { return own_; }  // of the working copy
  const Policy& policy() const { return policy_; }   // the one that judges
  const Aliases& aliases() const { return aliases_; }

  // The accepted state to judge against, and the working copy's where they differ.
  void load(Part& part) const;
  // The working copy's baseline of a part as its file has it, with the times of each processor and
  // state apart: what accepting the part would change.
  std::optional<Baseline> accepted_here(const Part& part) const;
  // The bytes of a baseline file of the working copy; none where it has no such file.
  std::string bytes_of(const std::string& place) const;

  // Reports what the change does to the rules that judge it, and baseline files that are missing.
  void tell(Verdict& verdict) const;

 private:
  const CheckRequest& request_;
  const Root& root_;
  Policy own_;
  Aliases aliases_;
  Policy policy_;
  std::optional<MergeBase> base_ = {};
  std::map<std::string, std::string> bytes_ = {};  // by place
  Baselines copies_ = {};
  std::map<std::string, std::string> lost_ = {};   // by place: why it ought to be there
  std::map<std::string, Fingerprint> tools_ = {};  // of the parts that are judged, by place
  std::vector<RuleChange> changes_ = {};

  void read_copies();
  void look_for_lost_files(const std::vector<std::string>& places);
  bool says_why_gone(const Baseline& before) const;
  void tell_unmeasured(Verdict& verdict) const;
  void tell_unknown(Verdict& verdict) const;
  void tell_own_values(Verdict& verdict) const;
};

}  // namespace holdfast::gate
