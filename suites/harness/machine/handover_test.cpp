// SPDX-License-Identifier: Apache-2.0
#include "harness/machine/handover.hpp"

#include <gtest/gtest.h>

#include <chrono>

#include "runtime/backend/backend.hpp"

namespace holdfast {
namespace {

TEST(Handover, TakesLongerThanACacheHitAndLessThanTheSchedulersSlice) {
  if (host_limits().threads < 2) GTEST_SKIP() << "one thread hands nothing over";
  const auto seconds = handover_seconds();
  ASSERT_TRUE(seconds);
  EXPECT_GT(*seconds, 5e-9);
  EXPECT_LT(*seconds, 0.1);
}

// Also if both threads share a processor, as they do on a busy machine.
TEST(Handover, IsMeasuredInMilliseconds) {
  const auto start = std::chrono::steady_clock::now();
  (void)handover_seconds();
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
}

}  // namespace
}  // namespace holdfast
