// SPDX-License-Identifier: Apache-2.0
#include "harness/machine/threads_apart.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include "runtime/backend/host_limits.hpp"

namespace holdfast {
namespace {

cpu_set_t cpus(const std::vector<int>& numbers) {
  cpu_set_t made;
  CPU_ZERO(&made);
  for (const int cpu : numbers) CPU_SET(cpu, &made);
  return made;
}

bool is(const cpu_set_t& found, const std::vector<int>& numbers) {
  const cpu_set_t expected = cpus(numbers);
  return CPU_EQUAL(&found, &expected);
}

TEST(ThreadsApart, ShareOutAllCpusThatMayBeUsed) {
  const auto shares = shares_of(cpus({1, 2, 5, 6, 9}), 2);
  ASSERT_EQ(shares.size(), 2u);
  EXPECT_TRUE(is(shares[0], {1, 5, 9}));
  EXPECT_TRUE(is(shares[1], {2, 6}));
}

TEST(ThreadsApart, AreLeftAsTheyAreWhereCpusAreFewerThanThreads) {
  EXPECT_TRUE(shares_of(cpus({3}), 2).empty());
}

// Affinity mask of each thread of the team.
std::vector<cpu_set_t> masks() {
  std::vector<cpu_set_t> found(static_cast<std::size_t>(host_limits().threads));
#pragma omp parallel num_threads(static_cast <int>(found.size()))
  (void)::sched_getaffinity(0, sizeof(cpu_set_t),
                            &found[static_cast<std::size_t>(omp_get_thread_num())]);
  return found;
}

TEST(ThreadsApart, HaveNoCpuInCommonUntilItEnds) {
  const auto before = masks();
  if (before.size() < 2 || CPU_COUNT(&before[0]) < static_cast<int>(before.size()))
    GTEST_SKIP() << "this machine has no CPU for each of two threads";
  {
    const ThreadsApart apart;
    const auto now = masks();
    cpu_set_t common;
    CPU_AND(&common, &now[0], &now[1]);
    EXPECT_EQ(CPU_COUNT(&common), 0);
    EXPECT_GT(CPU_COUNT(&now[0]), 0);
  }
  for (const cpu_set_t& mask : masks()) EXPECT_TRUE(CPU_EQUAL(&mask, &before[0]));
}

}  // namespace
}  // namespace holdfast
