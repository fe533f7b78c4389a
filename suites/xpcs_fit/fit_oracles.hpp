// SPDX-License-Identifier: Apache-2.0
// Who knows where fits end.
#pragma once

#include <cstdint>
#include <vector>

#include "xpcs_fit/row.hpp"

namespace holdfast::xpcs_fit {

// Points of the flat order that a fit gave up.
struct LostPoints {
  std::int64_t first = 0, count = 0;
};

// Published ends of sizes s0 and s, the oracle's own fit of size t; of larger ones the truth that
// the data were made from, and what their noise makes of F, of passes and of deviations.
Oracle fit_oracle(Unit unit, const Row& row, const LostPoints& lost = {});

// The largest distance of a result's parameter from the truth, in standard deviations.
double largest_pull(const Row& row, const std::vector<double>& result);

// The limit of what is counted, and may not occur once.
inline constexpr double less_than_one = 0.5;

// Standard deviations between two fits, at most; and what two ways of one fit may leave.
double pulls_apart(const std::vector<double>& one, const std::vector<double>& other);
inline constexpr double most_apart = 1e-6;

}  // namespace holdfast::xpcs_fit
