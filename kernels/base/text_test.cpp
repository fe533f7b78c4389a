// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace holdfast {
namespace {

TEST(Text, IsItsPartsInARow) {
  EXPECT_EQ(text("allocate ", 12, ' ', 0.5, " bytes"), "allocate 12 0.5 bytes");
}

TEST(Plural, OneThingAloneHasNoS) {
  EXPECT_EQ(plural(1, "case"), "1 case");
  EXPECT_EQ(plural(0, "case"), "0 cases");
  EXPECT_EQ(plural(2, "case"), "2 cases");
}

TEST(Listed, IsAllOfThemWithWhatStandsBetween) {
  EXPECT_EQ(listed(std::vector<std::string>{"a", "b", "c"}), "a, b, c");
  EXPECT_EQ(listed(std::vector<int>{1, 2}, "; "), "1; 2");
  EXPECT_EQ(listed(std::vector<int>{}), "");
}

TEST(Listed, GrowsItemByItem) {
  std::string list;
  add_to(list, "a");
  EXPECT_EQ(list, "a");
  add_to(list, 0.5, "; ");
  EXPECT_EQ(list, "a; 0.5");
}

}  // namespace
}  // namespace holdfast
