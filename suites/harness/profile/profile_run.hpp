// SPDX-License-Identifier: Apache-2.0
// A run of a suite that profiles its cases instead of measuring them.
#pragma once

#include <string>
#include <vector>

#include "harness/case/case.hpp"

namespace holdfast {

// Creates the folders that the options name. Throws Error{bad_input} for an unwritable one, before
// anything is profiled.
void prepare_profile(const ProfileOptions& options);

// For each case and each requested variant, records it, writes the requested files, prints an
// overview. Returns the exit code: a case that ran out of memory was not profiled, which outranks
// one that failed or whose mean step is longer than allowed.
int profile_cases(const std::string& suite, const std::vector<const Case*>& cases,
                  const SuiteOptions& options);

}  // namespace holdfast
