// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace holdfast
