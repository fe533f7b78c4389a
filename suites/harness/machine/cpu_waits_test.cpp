// SPDX-License-Identifier: Apache-2.0
#include "harness/machine/cpu_waits.hpp"

#include <gtest/gtest.h>

namespace holdfast {
namespace {

TEST(CpuWaits, ManyShortOnesAreOfThreadsThatYieldToNobody) {
  EXPECT_EQ(by_others({.seconds = 0.08, .times = 5000}, 1, false), 0);
}

TEST(CpuWaits, ATimeSliceIsOfAnotherProgram) {
  EXPECT_NEAR(by_others({.seconds = 0.6, .times = 150}, 1, false), 0.6, 0.01);
  EXPECT_NEAR(by_others({.seconds = 3e-3, .times = 1}, 0.05, false), 3e-3, 1e-4);
}

TEST(CpuWaits, NoNumberOfShortOnesExplainsHalfOfTheTime) {
  EXPECT_GT(by_others({.seconds = 0.53, .times = 34'000}, 1, false), 0.4);
}

TEST(CpuWaits, ManyShortOnesBesideOthersAreForThem) {
  EXPECT_EQ(by_others({.seconds = 0.08, .times = 5000}, 1, true), 0.08);
}

TEST(CpuWaits, WhatOthersDidIsAddedUpFromTheFirstQuestionOn) {
  CpuWaits waits;
  const double first = waits.by_others();
  EXPECT_LE(first, waits.seconds());
  EXPECT_GE(waits.by_others(), first);
}

}  // namespace
}  // namespace holdfast
