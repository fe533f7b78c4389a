// SPDX-License-Identifier: Apache-2.0
// The oracles for the ends of fits.
#pragma once

#include <cstdint>
#include <vector>

#include "xpcs_fit/row.hpp"

namespace holdfast::xpcs_fit {

// Points of the flat order that a fit gave up.
struct LostPoints {
  std::int64_t first = 0, count = 0;
};

// Published ends of sizes s0 and s, the oracle's own fit of size t; for larger sizes the truth that
// the data were made from, and the effect of their noise on F, on passes and on deviations.
Oracle fit_oracle(Unit unit, const Row& row, const LostPoints& lost = {});

// The largest distance of a result's parameter from the truth, in standard deviations.
double largest_pull(const Row& row, const std::vector<double>& result);

// The limit of a count that must be zero.
inline constexpr double less_than_one = 0.5;

// The largest difference of two fits in standard deviations; and the limit for two ways of one fit.
double pulls_apart(const std::vector<double>& one, const std::vector<double>& other);
inline constexpr double most_apart = 1e-6;

}  // namespace holdfast::xpcs_fit
