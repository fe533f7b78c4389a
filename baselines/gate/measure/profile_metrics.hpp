// SPDX-License-Identifier: Apache-2.0
// The metrics that come from a variant's profile, not from the timed processes.
#pragma once

#include <vector>

#include "gate/documents/profile.hpp"
#include "gate/documents/results.hpp"

namespace holdfast::gate {

// Gives each variant that promises such a metric its value from the profile, or the reason why it
// has none.
void add_profiled(const std::vector<Profile>& profiles, Results& results);

// For a run without profiles: these metrics were not requested.
void leave_unprofiled(Results& results);

}  // namespace holdfast::gate
