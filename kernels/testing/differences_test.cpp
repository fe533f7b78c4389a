// SPDX-License-Identifier: Apache-2.0
#include "testing/differences.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace holdfast {
namespace {

TEST(LargestDifference, IsThatOfThePlaceWhereTwoRowsAreFurthestApart) {
  EXPECT_EQ(largest_difference(std::vector{1., 2., 3.}, std::vector{1.5, 0., 4.}), 2);
  EXPECT_EQ(largest_difference(std::vector{1., 2.}, std::vector{1., 2.}), 0);
}

TEST(LargestDifference, TakesRowsOfDifferentKinds) {
  EXPECT_EQ(largest_difference(std::vector<float>{1, 2}, std::array{1., 2.25}), 0.25);
}

TEST(LargestDifference, OfWhatIsNoNumberIsInfiniteWhereverItStands) {
  for (std::size_t place = 0; place < 3; ++place)
    for (const double value : {NAN, INFINITY}) {
      const std::vector<double> whole = {1, 2, 3};
      std::vector<double> spoilt = whole;
      spoilt[place] = value;
      EXPECT_EQ(largest_difference(spoilt, whole), INFINITY);
      EXPECT_EQ(largest_difference(whole, spoilt), INFINITY);
      EXPECT_EQ(largest_difference(spoilt, spoilt), INFINITY);
    }
}

TEST(LargestDifference, OfRowsOfDifferentLengthsIsInfinite) {
  EXPECT_EQ(largest_difference(std::vector{1., 2.}, std::vector{1.}), INFINITY);
  EXPECT_EQ(largest_difference(std::vector<double>{}, std::vector{1.}), INFINITY);
}

}  // namespace
}  // namespace holdfast
