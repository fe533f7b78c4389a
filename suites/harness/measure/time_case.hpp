// SPDX-License-Identifier: Apache-2.0
// The timed section of one case: its variants interleaved, then one of them with the other
// computation of each derived metric.
#pragma once

#include <string>

#include "harness/measure/account.hpp"

namespace holdfast {

// Counts in each subject the steps that it was timed for.
void time_case(const Case& one, const std::string& device, const MeasureOptions& options,
               Subject* reference, Subject& optimized, Measurement& measurement);

}  // namespace holdfast
