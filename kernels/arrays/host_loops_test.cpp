// SPDX-License-Identifier: Apache-2.0
// The mode that flushes denormals ends on every thread it reached. Run with four threads, because a
// team of two never loses one of several.
#define HOLDFAST_ISA isa_test
#include "arrays/host_loops.hpp"

#include <gtest/gtest.h>

namespace holdfast::arrays::HOLDFAST_ISA {
namespace {

int threads_that_flush() {
  constexpr unsigned modes = 0x8040;
  int count = 0;
#pragma omp parallel num_threads(host_limits().threads) reduction(+ : count)
  count += (_mm_getcsr() & modes) != 0;
  return count;
}

// Like a library that shares its work among fewer threads, and then among all.
void shrink_and_grow_the_team() {
  for (const int threads : {2, host_limits().threads}) {
    int count = 0;
#pragma omp parallel num_threads(threads) reduction(+ : count)
    count += 1;
    EXPECT_EQ(count, threads);
  }
}

TEST(FlushTeamToZero, OfOneThreadIsInheritedByNone) {
  ASSERT_GT(host_limits().threads, 2);
  { const FlushTeamToZero<float> started(true); }
  {
    const FlushTeamToZero<float> step(false);
    shrink_and_grow_the_team();
  }
  EXPECT_EQ(threads_that_flush(), 0);
}

TEST(FlushTeamToZero, OfAllReachesAll) {
  const FlushTeamToZero<float> step(true);
  EXPECT_EQ(threads_that_flush(), host_limits().threads);
}

TEST(FlushTeamToZero, OfDoubleReachesNone) {
  const FlushTeamToZero<double> step(true);
  EXPECT_EQ(threads_that_flush(), 0);
}

}  // namespace
}  // namespace holdfast::arrays::HOLDFAST_ISA
