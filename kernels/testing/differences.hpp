// SPDX-License-Identifier: Apache-2.0
// For tests: the largest difference of two sequences.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace holdfast {

// Infinite if a difference is NaN, which std::max would drop, or if lengths differ.
template <class A, class B>
double largest_difference(const A& a, const B& b) {
  double worst = a.size() == b.size() ? 0 : INFINITY;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    const double difference = std::abs(a[i] - b[i]);
    worst = std::max(worst, std::isnan(difference) ? INFINITY : difference);
  }
  return worst;
}

}  // namespace holdfast
