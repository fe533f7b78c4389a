// SPDX-License-Identifier: Apache-2.0
// The metrics that a profile of a variant tells, beside those of the timed processes.
#pragma once

#include <vector>

#include "gate/documents/profile.hpp"
#include "gate/documents/results.hpp"

namespace holdfast::gate {

// Gives each variant that promises such a metric what its profile tells; where that tells nothing,
// the reason says so.
void add_profiled(const std::vector<Profile>& profiles, Results& results);

// Of a run that made no profile: that nobody asked for what one would have told.
void leave_unprofiled(Results& results);

}  // namespace holdfast::gate
