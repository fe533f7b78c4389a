// SPDX-License-Identifier: Apache-2.0
// The distance of a result from the expected one, each entry relative to the size its terms can
// have.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "xpcs_fit/oracle/oracle.hpp"

namespace holdfast::xpcs_fit::oracle {

// F, g, N.
inline std::vector<double> in_a_row(const Normal& normal) {
  std::vector<double> all = {normal.cost};
  all.insert(all.end(), normal.gradient.begin(), normal.gradient.end());
  all.insert(all.end(), normal.matrix.begin(), normal.matrix.end());
  return all;
}

// The distance of such rows: F relative to itself, g_k to sqrt(2 F N_kk), N_kl to sqrt(N_kk N_ll);
// infinite if a difference is NaN.
inline double distance(const std::vector<double>& result, const std::vector<double>& expected) {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  // 1 + p + p^2 values.
  const auto p = static_cast<std::size_t>(std::sqrt(static_cast<double>(expected.size())));
  if (result.size() != expected.size() || expected.size() != 1 + p + p * p) return infinite;
  double worst = 0;
  const auto take = [&](std::size_t at, double scale) {
    const double own = std::abs(result[at] - expected[at]) / scale;
    worst = std::isfinite(own) ? std::max(worst, own) : infinite;
  };
  const auto diagonal = [&](std::size_t k) { return expected[1 + p + k * p + k]; };
  take(0, expected[0]);
  for (std::size_t k = 0; k < p; ++k) {
    take(1 + k, std::sqrt(2 * expected[0] * diagonal(k)));
    for (std::size_t l = 0; l < p; ++l)
      take(1 + p + k * p + l, std::sqrt(diagonal(k) * diagonal(l)));
  }
  return worst;
}

}  // namespace holdfast::xpcs_fit::oracle
