// SPDX-License-Identifier: Apache-2.0
// The error of a result, and the sentence for one that is too large.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/case/case.hpp"

namespace holdfast {

// The error that an oracle measured. NaN becomes infinite: it exceeds every limit, and no maximum
// drops it. Throws Error{broken_rule} if it is negative.
double as_error(double measured, std::string_view oracle);

// The error of a variant against its oracle's published values, on a separate backend; zero if
// there are none.
double golden_error(const Steps& steps, Variant variant, const std::string& device);

// A sentence for an error outside the oracle's limit; empty otherwise.
std::optional<std::string> wrong(const Steps& steps, Variant variant, double error);

// Of the worst field, the largest difference relative to its largest expected magnitude; infinite
// if lengths differ, nothing is expected or a value is not finite.
double relative_error(const std::vector<double>& result, const std::vector<double>& expected,
                      const std::vector<std::size_t>& parts);

// The same, or the oracle's own measure if it has one; infinite if that is NaN, or the result
// empty.
double error_of(const Oracle& oracle, const std::vector<double>& result,
                const std::vector<double>& expected);

}  // namespace holdfast
