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

TEST(DeviceFileName, HasNoColon) {
  EXPECT_EQ(device_file_name("cuda-dry:sm_90"), "cuda-dry-sm_90");
  EXPECT_EQ(device_file_name("host"), "host");
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

TEST(UnitOfName, IsThatOfItsLastWords) {
  EXPECT_EQ(unit_of_name("time_s"), "s");
  EXPECT_EQ(unit_of_name("tokens_per_s"), "1/s");
  EXPECT_EQ(unit_of_name("bytes_per_s"), "B/s");
  EXPECT_EQ(unit_of_name("memory_bytes_per_s"), "B/s");
}

TEST(UnitOfName, IsBytesWhereverTheNameHasTheWord) {
  for (const char* name : {"peak_bytes", "host_rss_bytes_peak", "bytes_in_use", "bytes"})
    EXPECT_EQ(unit_of_name(name), "B") << name;
  EXPECT_EQ(unit_of_name("keybytes_kept"), "1");
}

TEST(UnitOfName, OfARatioIsOne) {
  EXPECT_EQ(unit_of_name("f64_over_f32_bytes"), "1");
  EXPECT_EQ(unit_of_name("streaming_over_standard"), "1");
}

TEST(UnitOfName, OfAPlainNumberIsOne) {
  EXPECT_EQ(unit_of_name("launches"), "1");
  EXPECT_EQ(unit_of_name("points_per_s_pass"), "1");
}

}  // namespace
}  // namespace holdfast
