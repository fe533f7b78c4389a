// SPDX-License-Identifier: Apache-2.0
#include "gate/measure/machine_load.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace holdfast::gate {
namespace {

TEST(BusyTicks, AreAllButIdlingAndWaiting) {
  std::istringstream in("cpu  1 20 300 4000 50000 600000 7000000 80000000 0 0\ncpu0 1 2 3\n");
  EXPECT_EQ(busy_ticks(in), 1 + 20 + 300 + 600000 + 7000000 + 80000000);
}

TEST(BusyTicks, OfAnotherFileAreUnknown) {
  std::istringstream in("cpu  1 20 300\n");
  EXPECT_FALSE(busy_ticks(in).has_value());
}

TEST(OthersWatch, TellsAPartOfTheMachine) {
  const OthersWatch watch;
  EXPECT_GE(watch.share(), 0);
  EXPECT_LE(watch.share(), 1);
}

}  // namespace
}  // namespace holdfast::gate
