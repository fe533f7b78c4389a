// SPDX-License-Identifier: Apache-2.0
#include "harness/machine/kept_awake.hpp"

#include <gmock/gmock.h>

#include <chrono>
#include <functional>
#include <utility>

#include "harness/testing/keepers_here.hpp"

namespace holdfast {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::ResultOf;

using Clock = std::chrono::steady_clock;

std::vector<int> all_cpus() {
  cpu_set_t allowed;
  (void)::sched_getaffinity(0, sizeof allowed, &allowed);
  return cpus_filled_by(allowed, CPU_SETSIZE);
}

// Waits long enough for a machine that gives the lowest class little time.
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

TEST_F(KeepersHere, AreOfTheLowestClassWhileTheySpinAlone) {
  Keepers keepers(all_cpus());
  const auto are_all = [](int policy) { return Each(ResultOf(::sched_getscheduler, policy)); };
  EXPECT_THAT(keepers.threads(), are_all(SCHED_OTHER));
  keepers.begin();
  EXPECT_THAT(keepers.threads(), are_all(SCHED_IDLE));
  keepers.end();
  EXPECT_THAT(keepers.threads(), are_all(SCHED_OTHER));
}

TEST_F(KeepersHere, HaveACpuOfTheirOwnEach) {
  const Keepers keepers(all_cpus());
  std::vector<int> theirs;
  for (const pid_t thread : keepers.threads()) {
    cpu_set_t own;
    ASSERT_EQ(::sched_getaffinity(thread, sizeof own, &own), 0);
    const std::vector<int> cpus = cpus_filled_by(own, 1);
    theirs.insert(theirs.end(), cpus.begin(), cpus.end());
  }
  EXPECT_EQ(theirs, all_cpus());
}

TEST_F(KeepersHere, ComputeNoLongerThanTheyHaveLived) {
  const auto start = Clock::now();
  const Keepers keepers(all_cpus());
  const double computed = keepers.cpu_seconds();
  const std::chrono::duration<double> lived = Clock::now() - start;
  EXPECT_LE(computed, lived.count() * static_cast<double>(keepers.threads().size()));
}

TEST_F(KeepersHere, ComputeFromTheBeginningToTheEnd) {
  Keepers keepers(all_cpus());
  double last = keepers.cpu_seconds();
  keepers.begin();
  EXPECT_TRUE(comes_true([&] { return keepers.cpu_seconds() > last + 2e-3; }));
  keepers.end();
  EXPECT_TRUE(comes_true([&] {
    const double before = std::exchange(last, keepers.cpu_seconds());
    return last == before;
  }));
  keepers.begin();
  EXPECT_TRUE(comes_true([&] { return keepers.cpu_seconds() > last; }));
}

}  // namespace
}  // namespace holdfast
