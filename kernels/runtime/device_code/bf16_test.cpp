// SPDX-License-Identifier: Apache-2.0
#include "runtime/device_code/bf16.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace holdfast {
namespace {

float through(float x) {
  return widened(narrowed(x));
}

TEST(Bf16, KeepsWhatItCanHold) {
  for (const float x : {0.0f, 1.0f, -1.5f, 0x1.fep100f, 0x1p-126f}) EXPECT_EQ(through(x), x);
  EXPECT_TRUE(std::signbit(through(-0.0f)));
}

TEST(Bf16, RoundsToNearestAndTiesToEven) {
  EXPECT_EQ(through(1 + 0x1p-8f), 1);
  EXPECT_EQ(through(1 + 3 * 0x1p-8f), 1 + 0x1p-6f);
  EXPECT_EQ(through(1 + 0x1p-8f + 0x1p-20f), 1 + 0x1p-7f);
}

TEST(Bf16, IsInfiniteBeyondItsRange) {
  EXPECT_EQ(through(std::numeric_limits<float>::max()), std::numeric_limits<float>::infinity());
  EXPECT_EQ(through(-std::numeric_limits<float>::infinity()),
            -std::numeric_limits<float>::infinity());
}

// All bits set: the emulated device's memory before it is written.
TEST(Bf16, NoNumberStaysNone) {
  EXPECT_TRUE(std::isnan(through(std::numeric_limits<float>::quiet_NaN())));
  EXPECT_TRUE(std::isnan(through(__builtin_bit_cast(float, 0xffffffffu))));
  EXPECT_TRUE(std::isnan(through(__builtin_bit_cast(float, 0x7f800001u))));
}

}  // namespace
}  // namespace holdfast
