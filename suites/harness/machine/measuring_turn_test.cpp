// SPDX-License-Identifier: Apache-2.0
#include "harness/machine/measuring_turn.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <omp.h>
#include <sched.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "harness/machine/kept_awake.hpp"
#include "harness/testing/keepers_here.hpp"
#include "runtime/backend/host_limits.hpp"

namespace holdfast {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds impatience(10), a_while(30'000);

// No program that measures asks for this turn.
const std::string own_turn = "holdfast: the turn of a test, " + std::to_string(::getpid());

TurnRequest own(milliseconds patience = a_while, bool precedence = host_limits().precedence) {
  return {.name = own_turn, .patience = patience, .precedence = precedence};
}

// Scheduling policy of each thread of the team.
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
    const MeasuringTurn turn("host", own());
    EXPECT_TRUE(are_all(policies(), SCHED_RR));
  }
  EXPECT_TRUE(are_all(policies(), SCHED_OTHER));
}

TEST_F(AheadOfOthers, IsNobodyWhoWaitsForAGpu) {
  const MeasuringTurn turn("cuda", own());
  EXPECT_TRUE(are_all(policies(), SCHED_OTHER));
}

TEST_F(KeepersHere, StayInTheLowestClassWhileOthersGoBeforeAll) {
  Keepers keepers({0});
  keepers.begin();
  const auto is_lowest = [&] { return ::sched_getscheduler(keepers.threads()[0]) == SCHED_IDLE; };
  {
    const MeasuringTurn turn("host", own());
    EXPECT_TRUE(is_lowest());
  }
  EXPECT_TRUE(is_lowest());
}

TEST(MeasuringTurn, KeepsCpusAwakeWhileItLasts) {
  if (!KeptAwake::may_be()) GTEST_SKIP() << "no CPU is kept awake here";
  const auto awake = [] {
    return std::ranges::any_of(all_keepers(), [](const Keepers* keepers) {
      return std::ranges::any_of(keepers->threads(), [](pid_t thread) {
        return ::sched_getscheduler(thread) == SCHED_IDLE;
      });
    });
  };
  {
    const MeasuringTurn turn("host", own());
    EXPECT_TRUE(awake());
  }
  EXPECT_FALSE(awake());
  const MeasuringTurn turn("cuda", own());
  EXPECT_FALSE(awake());
}

// Another process that holds the turn until released.
class Other {
 public:
  Other() {
    int told[2] = {}, released[2] = {};
    if (::pipe2(told, O_CLOEXEC) != 0 || ::pipe2(released, O_CLOEXEC) != 0) return;
    child_ = ::fork();
    char sign = 0;
    if (child_ == 0) {
      ::close(released[1]);
      const MeasuringTurn turn("host", own());
      (void)!::write(told[1], "!", 1);
      (void)!::read(released[0], &sign, 1);
      ::_exit(0);  // without giving its turn back: the kernel does
    }
    release_ = released[1];
    ::close(released[0]), ::close(told[1]);
    (void)!::read(told[0], &sign, 1);
    ::close(told[0]);
  }
  Other(const Other&) = delete;
  ~Other() { release(); }
  void release() {
    if (child_ < 0) return;
    ::close(release_);
    ::waitpid(std::exchange(child_, -1), nullptr, 0);
  }

 private:
  pid_t child_ = -1;
  int release_ = -1;
};

// In a child process, where waiting in vain does not affect later tests. It has no team: OpenMP's
// does not survive a fork.
template <class Body>
bool holds_in_child(const Body& body) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(body() ? 0 : 1);
  int status = -1;
  return ::waitpid(child, &status, 0) == child && status == 0;
}

TEST(MeasuringTurn, IsOfOneProcessAtATimeWithPrecedenceAndWithout) {
  for (const bool precedence : {host_limits().precedence, false}) {
    Other other;
    EXPECT_TRUE(holds_in_child([&] {
      const MeasuringTurn turn("host", own(impatience, precedence));
      return !turn.came() && ::sched_getscheduler(0) == SCHED_OTHER;
    }));
    other.release();
    EXPECT_TRUE(MeasuringTurn("host", own(a_while, precedence)).came());
  }
}

TEST(MeasuringTurn, IsNotHeldByAProgramThatItsHolderStarted) {
  int input[2] = {};
  ASSERT_EQ(::pipe2(input, O_CLOEXEC), 0);
  EXPECT_TRUE(holds_in_child([&] {
    const MeasuringTurn turn("host", own());
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, input[0], STDIN_FILENO);
    char name[] = "cat";
    char* arguments[] = {name, nullptr};
    pid_t started = -1;
    return turn.came() &&
           ::posix_spawnp(&started, name, &actions, nullptr, arguments, environ) == 0;
  }));
  EXPECT_TRUE(MeasuringTurn("host", own(impatience)).came());
  ::close(input[0]), ::close(input[1]);
}

TEST(MeasuringTurn, IsWaitedForInSilenceAtFirst) {
  const Other other;
  EXPECT_TRUE(holds_in_child([] {
    testing::internal::CaptureStderr();
    (void)MeasuringTurn("host", own(impatience)).came();
    return testing::internal::GetCapturedStderr().find("waits for its turn") == std::string::npos;
  }));
}

TEST(MeasuringTurn, IsWaitedForUntilTheOtherEnds) {
  Other other;
  std::thread later([&] {
    std::this_thread::sleep_for(impatience);
    other.release();
  });
  EXPECT_TRUE(MeasuringTurn("host", own()).came());
  later.join();
}

TEST(MeasuringTurn, OfAnotherNameIsAnother) {
  EXPECT_TRUE(holds_in_child([] {
    const std::string one = own_turn + " a", other = own_turn + " b";
    TurnRequest first = own(impatience), second = first;
    first.name = one;
    second.name = other;
    const MeasuringTurn turn("host", first);
    return turn.came() && MeasuringTurn("host", second).came();
  }));
}

TEST(MeasuringTurn, IsNotWaitedForTwiceWhereItDidNotCome) {
  const Other other;
  EXPECT_TRUE(holds_in_child([] {
    const bool in_vain = !MeasuringTurn("host", own(impatience)).came();
    const auto start = std::chrono::steady_clock::now();
    const bool again = !MeasuringTurn("host", own(a_while)).came();
    return in_vain && again && std::chrono::steady_clock::now() - start < a_while / 2;
  }));
}

TEST(MeasuringTurn, IsNotWaitedForWithoutASocket) {
  EXPECT_TRUE(holds_in_child([] {
    constexpr rlimit none = {};
    if (::setrlimit(RLIMIT_NOFILE, &none) != 0) return false;
    const auto start = std::chrono::steady_clock::now();
    return !MeasuringTurn("host", own()).came() &&
           std::chrono::steady_clock::now() - start < a_while / 2;
  }));
}

TEST_F(AheadOfOthers, IsNobodyWhoDeclinesIt) {
  const MeasuringTurn turn("host", own(a_while, false));
  EXPECT_TRUE(are_all(policies(), SCHED_OTHER));
}

}  // namespace
}  // namespace holdfast
