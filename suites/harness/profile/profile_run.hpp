// SPDX-License-Identifier: Apache-2.0
// A run of a suite that profiles its cases instead of measuring them.
#pragma once

#include <string>
#include <vector>

#include "harness/case/case.hpp"

namespace holdfast {

// Makes the folders that the options name. Throws Error{bad_input} for one that cannot be written
// to: that is known before anything is profiled.
void prepare_profile(const ProfileOptions& options);

// Records each case in each variant asked for, writes what is asked for, prints an overview.
// Returns false when a case failed or its mean step is longer than allowed.
bool profile_cases(const std::string& suite, const std::vector<const Case*>& cases,
                   const SuiteOptions& options);

}  // namespace holdfast
