// SPDX-License-Identifier: Apache-2.0
// How far a result is from what is known of it, and the sentence for one that is too far.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/case/case.hpp"

namespace holdfast {

// How far a variant is from its oracle's published values, on a backend of their own; zero where
// there are none.
double golden_error(const Steps& steps, Variant variant, const std::string& device);

// A sentence for an error that is not within the oracle's limit.
std::optional<std::string> wrong(const Steps& steps, Variant variant, double error);

// Largest difference relative to the largest expected magnitude, field by field; infinite where
// lengths differ or a value is not finite.
double relative_error(const std::vector<double>& result, const std::vector<double>& expected,
                      const std::vector<std::size_t>& parts);

// The same, or the oracle's own measure where it has one; infinite where that is no number.
double error_of(const Oracle& oracle, const std::vector<double>& result,
                const std::vector<double>& expected);

}  // namespace holdfast
