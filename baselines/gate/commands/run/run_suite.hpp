// SPDX-License-Identifier: Apache-2.0
// One suite of `holdfast run`, from its list to its files.
#pragma once

#include <filesystem>

#include "gate/commands/run/plan.hpp"

namespace holdfast::gate {

// Measures the suite `binary` and writes <out>/<device class>/<suite>.json with its list, and
// prints what became of its cases. Throws Error(bad_input) where it has no case for what the plan
// asks, and Interrupted where a signal came; what was finished is written then.
void run_suite(const std::filesystem::path& binary, const Plan& plan);

}  // namespace holdfast::gate
