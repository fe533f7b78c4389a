// SPDX-License-Identifier: Apache-2.0
#include "harness/machine/kept_awake.hpp"

#include <gmock/gmock.h>
#include <sched.h>

#include <chrono>
#include <functional>
#include <thread>

#include "base/time.hpp"
#include "harness/machine/wake_up.hpp"

namespace holdfast {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::ResultOf;
using ::testing::UnorderedElementsAreArray;

using Clock = std::chrono::steady_clock;

std::vector<int> all_cpus() {
  cpu_set_t allowed;
  (void)::sched_getaffinity(0, sizeof allowed, &allowed);
  return cpus_filled_by(allowed, CPU_SETSIZE);
}

// However little the machine lets the lowest class have.
bool comes_true(const std::function<bool()>& claim) {
  for (const auto start = Clock::now(); Clock::now() - start < std::chrono::seconds(60);) {
    if (claim()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return false;
}

TEST(CpusKeptAwake, AreThoseOfATeamThatFillsThem) {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  for (const int cpu : {1, 4, 6}) CPU_SET(cpu, &allowed);
  EXPECT_THAT(cpus_filled_by(allowed, 3), ElementsAre(1, 4, 6));
  EXPECT_THAT(cpus_filled_by(allowed, 2), IsEmpty());
}

TEST(CpusKeptAwake, AreWorthItWhereHaltedOnesWakeMuchLater) {
  EXPECT_TRUE(worth_keeping_awake(32e-6, 17e-6));
  EXPECT_FALSE(worth_keeping_awake(18e-6, 17e-6));
}

TEST(WakeUp, OfTheSlowestCpuIsTimed) {
  if (all_cpus().size() < 2) GTEST_SKIP() << "nobody calls from another CPU here";
  EXPECT_GT(slowest_wake_up(all_cpus()), 0);
}

TEST(Keepers, AreOfTheLowestClassEachOnACpuOfItsOwn) {
  const Keepers keepers(all_cpus());
  EXPECT_THAT(keepers.threads(), Each(ResultOf(::sched_getscheduler, SCHED_IDLE)));
  std::vector<int> theirs;
  for (const pid_t thread : keepers.threads()) {
    cpu_set_t own;
    ASSERT_EQ(::sched_getaffinity(thread, sizeof own, &own), 0);
    const std::vector<int> cpus = cpus_filled_by(own, 1);
    theirs.insert(theirs.end(), cpus.begin(), cpus.end());
  }
  EXPECT_EQ(theirs, all_cpus());
}

TEST(Keepers, ComputeFromTheBeginningToTheEnd) {
  Keepers keepers(all_cpus());
  const double before = keepers.cpu_seconds();
  keepers.begin();
  EXPECT_TRUE(comes_true([&] { return keepers.cpu_seconds() > before + 2e-3; }));
  keepers.end();
  double last = before;
  EXPECT_TRUE(comes_true([&] { return last == std::exchange(last, keepers.cpu_seconds()); }));
  keepers.begin();
  EXPECT_TRUE(comes_true([&] { return keepers.cpu_seconds() > last; }));
}

TEST(Keepers, AreNoThreadsThatWorkForTheProcess) {
  const std::vector<pid_t> before = working_threads();
  const Keepers keepers(all_cpus());
  EXPECT_THAT(working_threads(), UnorderedElementsAreArray(before));
}

TEST(Keepers, ComputeNothingForTheProcess) {
  const double others = process_cpu_seconds() - working_cpu_seconds();
  Keepers keepers(all_cpus());
  keepers.begin();
  EXPECT_TRUE(comes_true([&] { return keepers.cpu_seconds() > 0.01; }));
  EXPECT_NEAR(process_cpu_seconds() - working_cpu_seconds(), others + keepers.cpu_seconds(), 2e-3);
}

}  // namespace
}  // namespace holdfast
