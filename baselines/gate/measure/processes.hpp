// SPDX-License-Identifier: Apache-2.0
// Several fresh processes of one suite on one device become one result: times by the median over
// processes, counts only if all processes agree on them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gate/documents/list.hpp"
#include "gate/documents/results.hpp"

namespace holdfast::gate {

// `processes` are results of one suite on one device, each of one process and of some of its cases,
// and not empty. Clocked metrics keep one number per process that measured the case undisturbed;
// exact and codegen metrics, identities and the names of all of these must agree, else the case is
// `failed` with a reason that names the metric and both values; other metrics take the median. Of
// check errors the worst counts. `beside` are the processes of another build, run in turn: of both,
// those count whose processors stood as in most, and in whole rounds where five of these remain.
Results merge(const std::vector<Results>& processes, const std::vector<Results>& beside = {});

// Gives every case of `expected` that `results` lacks an empty row with this status and reason.
void complete(Results& results, const std::vector<ListedCase>& expected, const std::string& status,
              const std::string& reason);

// The cases of `list` that a run on this device and tier holds. `filter` is a regular expression
// that the id must contain, or with a leading '-' must not contain; a malformed one throws
// Error(bad_input).
std::vector<ListedCase> expected_cases(const List& list, const std::string& device_name,
                                       const std::string& tier,
                                       const std::optional<std::string>& filter);

}  // namespace holdfast::gate
