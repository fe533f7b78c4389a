// SPDX-License-Identifier: Apache-2.0
// What an oracle has answered need not be computed again: not within a process, and not by the
// other processes of one run, which share a folder. Results are held against it in each of them.
#pragma once

#include <string>

#include "harness/case/case.hpp"

namespace holdfast {

// The same oracle, asked once for each number of steps, and for each variant's published values.
// HOLDFAST_ANSWERS names the folder; without one only this oracle's copies remember.
Oracle remembering(Oracle oracle, const std::string& case_id);

}  // namespace holdfast
