// SPDX-License-Identifier: Apache-2.0
#include "harness/machine/own_work.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>

#include "base/time.hpp"
#include "harness/testing/keepers_here.hpp"

namespace holdfast {
namespace {

using ::testing::Contains;
using ::testing::Not;

using OwnWork = KeepersHere;

// A thread that has just ended may still be listed: the system removes it after its joiner
// continues.
TEST_F(OwnWork, IsOfAllThreadsButThoseThatKeepCpusAwake) {
  const Keepers keepers({0});
  const std::vector<pid_t> working = working_threads();
  EXPECT_THAT(working, Contains(::gettid()));
  for (const pid_t keeper : keepers.threads()) EXPECT_THAT(working, Not(Contains(keeper)));
}

// Samples of some milliseconds, in which the kernel's clock ticks once or not at all.
TEST_F(OwnWork, OfAShortSampleIsWhatTheSampleComputed) {
  cpu_set_t allowed;
  ASSERT_EQ(::sched_getaffinity(0, sizeof allowed, &allowed), 0);
  Keepers keepers(cpus_filled_by(allowed, CPU_SETSIZE));
  keepers.begin();
  std::vector<double> beyond;
  for (int sample = 0; sample < 50; ++sample) {
    const double working = working_cpu_seconds(), start = thread_cpu_seconds();
    while (thread_cpu_seconds() - start < 2e-3) continue;
    const double computed = thread_cpu_seconds() - start;
    beyond.push_back(working_cpu_seconds() - working - computed);
  }
  std::ranges::sort(beyond);
  EXPECT_GE(beyond.front(), -1e-4);
  EXPECT_LE(beyond[beyond.size() / 2], 5e-4);
}

}  // namespace
}  // namespace holdfast
