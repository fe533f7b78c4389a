// SPDX-License-Identifier: Apache-2.0
// Other runs of the build that is judged, `--again=DIR`: what they also show is not chance.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "gate/documents/measured.hpp"
#include "gate/documents/results.hpp"

namespace holdfast::gate {

// What each of them measured of a value, by entry key.
using MeasuredAgain = std::map<std::string, std::vector<Measured>>;

// The measurements of the suite and device class of `results` in the results roots `again`. Throws
// Error(bad_input) for a root of another build or processor, a filtered, invalid or throttled one,
// one with a failed or wrong case that is good in `results`, and for the run itself.
MeasuredAgain measured_again(const Results& results,
                             const std::vector<std::filesystem::path>& again);

}  // namespace holdfast::gate
