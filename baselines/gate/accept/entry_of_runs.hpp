// SPDX-License-Identifier: Apache-2.0
// How runs become an entry of a baseline, and how one more run joins it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gate/accept/accepted_runs.hpp"
#include "gate/documents/baseline.hpp"
#include "gate/documents/measured.hpp"
#include "gate/documents/results.hpp"

namespace holdfast::gate {

// The entry of a value that is the same in each run.
Entry counted_entry(const Value& value, const Results& results, const std::string& why);

// The entry of a time or ratio over these runs, at least one; its value becomes the anchor of
// drift.
Entry timed_entry(const std::string& key, const std::vector<const AcceptedRun*>& runs,
                  const std::string& why);

// Of run ids, which begin with their day.
std::int64_t distinct_days(const std::vector<std::string>& runs);

// Adds a run that agrees: the value becomes the median over runs, the reason and the anchor stay.
Entry with_run(const Entry& before, const std::string& key, const AcceptedRun& run);

// The runs that the entry does not hold yet.
std::vector<const AcceptedRun*> fresh(std::vector<const AcceptedRun*> runs, const Entry& before);

}  // namespace holdfast::gate
