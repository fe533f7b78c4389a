// SPDX-License-Identifier: Apache-2.0
#include "harness/machine/measuring_turn.hpp"

#include <gtest/gtest.h>
#include <omp.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "runtime/backend/host_limits.hpp"

namespace holdfast {
namespace {

using std::chrono::milliseconds;

// By thread of the team.
std::vector<int> policies() {
  std::vector<int> found(static_cast<std::size_t>(host_limits().threads));
#pragma omp parallel num_threads(static_cast <int>(found.size()))
  found[static_cast<std::size_t>(omp_get_thread_num())] = ::sched_getscheduler(0);
  return found;
}

bool are_all(const std::vector<int>& policies, int policy) {
  return std::ranges::all_of(policies, [&](int one) { return one == policy; });
}

struct AheadOfOthers : ::testing::Test {
  void SetUp() override {
    if (!host_limits().precedence) GTEST_SKIP() << "this machine grants no real-time scheduling";
  }
};

TEST_F(AheadOfOthers, AreAllThreadsOfTheTeamUntilTheTurnEnds) {
  ASSERT_TRUE(are_all(policies(), SCHED_OTHER));
  {
    const MeasuringTurn turn("host");
    EXPECT_TRUE(are_all(policies(), SCHED_RR));
  }
  EXPECT_TRUE(are_all(policies(), SCHED_OTHER));
}

TEST_F(AheadOfOthers, IsNobodyWhoWaitsForAGpu) {
  const MeasuringTurn turn("cuda");
  EXPECT_TRUE(are_all(policies(), SCHED_OTHER));
}

// Another process that has the turn for `held`, once it has it.
class Other {
 public:
  explicit Other(milliseconds held) {
    int ends[2] = {};
    if (::pipe(ends) != 0) return;
    child_ = ::fork();
    if (child_ == 0) {
      const MeasuringTurn turn("host");
      (void)!::write(ends[1], "!", 1);
      ::usleep(static_cast<useconds_t>(1000 * held.count()));
      ::_exit(0);  // without giving its turn back: the kernel does
    }
    char sign = 0;
    (void)!::read(ends[0], &sign, 1);
    ::close(ends[0]), ::close(ends[1]);
  }
  Other(const Other&) = delete;
  ~Other() { ::waitpid(child_, nullptr, 0); }

 private:
  pid_t child_ = -1;
};

double seconds_to_have_it(milliseconds patience, bool precedence) {
  const auto start = std::chrono::steady_clock::now();
  const MeasuringTurn turn("host", patience, precedence);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

TEST(MeasuringTurn, IsOfOneProcessAtATimeWithPrecedenceAndWithout) {
  for (const bool precedence : {host_limits().precedence, false}) {
    const Other other(milliseconds(200));
    EXPECT_GT(seconds_to_have_it(patience_for_a_turn, precedence), 0.1);
  }
}

TEST_F(AheadOfOthers, IsWhoWaitedForTheTurn) {
  const Other other(milliseconds(20));
  const MeasuringTurn turn("host");
  EXPECT_TRUE(are_all(policies(), SCHED_RR));
}

TEST_F(AheadOfOthers, IsNobodyWhoDeclinesIt) {
  const MeasuringTurn turn("host", patience_for_a_turn, false);
  EXPECT_TRUE(are_all(policies(), SCHED_OTHER));
}

// In a process of its own, which would not wait in the tests behind this one either.
TEST(MeasuringTurn, IsNotWaitedForTwiceWhereItDidNotCome) {
  const Other other(milliseconds(600));
  const pid_t impatient = ::fork();
  if (impatient == 0) {
    const bool first = seconds_to_have_it(milliseconds(10), false) >= 0.01;
    const bool second = seconds_to_have_it(patience_for_a_turn, false) < 0.3;
    const MeasuringTurn without("host");
    ::_exit(first && second && ::sched_getscheduler(0) == SCHED_OTHER ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(impatient, &status, 0), impatient);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace holdfast
