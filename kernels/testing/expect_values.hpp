// SPDX-License-Identifier: Apache-2.0
// For tests: expects two sequences to be equal; reports all differences at once and continues.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <string_view>
#include <vector>

namespace holdfast {

// Within `tolerance`, absolute; exactly by default.
template <class T>
void expect_values(std::string_view what, const std::vector<T>& found,
                   const std::vector<T>& expected, double tolerance = 0) {
  ASSERT_EQ(found.size(), expected.size()) << what;
  std::size_t differ = 0, first = 0;
  double largest = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const double apart =
        std::abs(std::complex<double>(found[i]) - std::complex<double>(expected[i]));
    if (apart <= tolerance) continue;
    if (differ++ == 0) first = i;
    largest = std::isnan(apart) ? INFINITY : std::max(largest, apart);
  }
  EXPECT_EQ(differ, 0u) << what << ": " << differ << " of " << found.size()
                        << " values differ, by up to " << largest << " where " << tolerance
                        << " is allowed; the first at " << first << " is " << found[first]
                        << " and not " << expected[first];
}

}  // namespace holdfast
