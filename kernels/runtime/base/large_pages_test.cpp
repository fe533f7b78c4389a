// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/large_pages.hpp"

#include <gmock/gmock.h>

namespace holdfast {
namespace {

TEST(LargePages, GrowBehindWhatIsThere) {
  std::vector<double> numbers = {1, 2};
  double* const begin = grow(numbers, 2);
  begin[0] = 3;
  begin[1] = 4;
  EXPECT_THAT(numbers, testing::ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(grow(numbers, 0), numbers.data() + 4);
  EXPECT_EQ(numbers.size(), 4u);
}

TEST(LargePages, HoldMoreThanOne) {
  std::vector<double> numbers = {1};
  double* const begin = grow(numbers, 1 << 20);
  begin[(1 << 20) - 1] = 2;
  EXPECT_EQ(numbers.front(), 1);
  EXPECT_EQ(numbers.back(), 2);
  EXPECT_EQ(numbers.size(), (1u << 20) + 1);
}

}  // namespace
}  // namespace holdfast
