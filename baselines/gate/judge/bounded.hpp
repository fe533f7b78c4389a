// SPDX-License-Identifier: Apache-2.0
// Metrics that only bounds judge. No accepted value shows that one was there, so a baseline keeps
// their names.
#pragma once

#include <string>
#include <vector>

#include "gate/documents/policy/policy.hpp"
#include "gate/judge/merge_base.hpp"

namespace holdfast::gate {

// Whether the policy bounds a metric of that kind, of any variant, alone or in a sum, and stores no
// value of it.
bool is_bounded_alone(const Policy& policy, const std::string& case_id,
                      const std::string& device_class, const std::string& metric,
                      const std::string& kind);

// The bounded metrics of the merge base that the change removes from a baseline, or from the list
// for a class that was not measured here; in a measured class the run itself shows the latter.
std::vector<RuleChange> lost_bounds(const MergeBase& base, const ChangeSet& change);

}  // namespace holdfast::gate
