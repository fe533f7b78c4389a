// SPDX-License-Identifier: Apache-2.0
// One suite of `holdfast run`, from its list to its files.
#pragma once

#include <filesystem>

#include "gate/commands/run/plan.hpp"

namespace holdfast::gate {

// Measures the suite `binary`, writes <out>/<device class>/<suite>.json with its list, and prints
// what became of its cases. Throws Error(bad_input) if it has no case for the plan, and Interrupted
// on a signal; what was finished is then written.
void run_suite(const std::filesystem::path& binary, const Plan& plan);

}  // namespace holdfast::gate
