// SPDX-License-Identifier: Apache-2.0
#include "base/names.hpp"

#include <gtest/gtest.h>

namespace holdfast {
namespace {

TEST(DeviceKind, IsTheNameUpToItsColon) {
  EXPECT_EQ(device_kind("cuda-dry:sm_90"), "cuda-dry");
  EXPECT_EQ(device_kind("cuda:1"), "cuda");
  EXPECT_EQ(device_kind("host"), "host");
}

TEST(Tiers, ARunIncludesTheTiersBeforeItsOwn) {
  EXPECT_TRUE(tier_includes("full", "smoke"));
  EXPECT_TRUE(tier_includes("gate", "gate"));
  EXPECT_FALSE(tier_includes("smoke", "gate"));
  EXPECT_FALSE(tier_includes("gate", "full"));
}

TEST(Tiers, AnotherWordIsNone) {
  EXPECT_TRUE(is_tier("gate"));
  EXPECT_FALSE(is_tier("Gate"));
  EXPECT_FALSE(is_tier(""));
}

}  // namespace
}  // namespace holdfast
