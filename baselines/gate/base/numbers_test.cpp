// SPDX-License-Identifier: Apache-2.0
#include "gate/base/numbers.hpp"

#include <gtest/gtest.h>

namespace holdfast::gate {
namespace {

TEST(Readable, SecondsAreScaledAndBytesAreExact) {
  EXPECT_EQ(readable(0.000412, "s"), "412 us");
  EXPECT_EQ(readable(1177856.0, "B"), "1177856 B");
  EXPECT_EQ(readable(18.05, "1"), "18.05");
  EXPECT_EQ(readable("sha256:0123456789abcdef", "1"), "sha256:01234567");
}

}  // namespace
}  // namespace holdfast::gate
