// SPDX-License-Identifier: Apache-2.0
// How runs become an entry of a baseline, and how one more run joins it.
#pragma once

#include <string>
#include <vector>

#include "gate/accept/accepted_runs.hpp"
#include "gate/documents/baseline.hpp"
#include "gate/documents/results.hpp"

namespace holdfast::gate {

// Of what is counted, and the same in each run.
Entry counted_entry(const Measured& measured, const Results& results, const std::string& why);

// A time or a ratio of these runs, one at least; drift is measured from its value on.
Entry timed_entry(const std::string& key, const std::vector<const AcceptedRun*>& runs,
                  const std::string& why);

// One more run that agrees: the value becomes the median over runs, the reason and the anchor stay.
Entry with_run(const Entry& before, const std::string& key, const AcceptedRun& run);

// Of these runs those that the entry does not hold yet.
std::vector<const AcceptedRun*> fresh(std::vector<const AcceptedRun*> runs, const Entry& before);

}  // namespace holdfast::gate
