// SPDX-License-Identifier: Apache-2.0
// The effect of other programs on a ratio whose two sides use the machine differently: threads that
// meet at a barrier often are delayed far more than threads that meet once.
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <vector>

#include "base/time.hpp"
#include "harness/machine/cpu_waits.hpp"
#include "harness/machine/measuring_turn.hpp"
#include "harness/measure/measure.hpp"
#include "harness/testing/toy.hpp"
#include "runtime/backend/host_limits.hpp"

namespace holdfast {
namespace {

class Competitors {
 public:
  explicit Competitors(int count) {
    for (int i = 0; i < count; ++i) {
      const pid_t child = ::fork();
      if (child == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        const sched_param usual = {};  // whatever this process has
        ::sched_setscheduler(0, SCHED_OTHER, &usual);
        for (;;) asm volatile("");
      }
      children_.push_back(child);
    }
  }
  Competitors(const Competitors&) = delete;
  ~Competitors() {
    for (const pid_t child : children_) {
      ::kill(child, SIGKILL);
      ::waitpid(child, nullptr, 0);
    }
  }

 private:
  std::vector<pid_t> children_ = {};
};

// A fixed amount of arithmetic by two threads that meet `barriers` times.
void work(int barriers) {
  constexpr int all = 240'000;
#pragma omp parallel num_threads(2)
  for (int part = 0; part < barriers; ++part) {
    double sum = 1;
    for (int i = 0; i < all / barriers; ++i) sum = sum * 0.999 + i;
    asm volatile("" : : "x"(sum));
#pragma omp barrier
  }
}

Timer timed(int barriers) {
  return [barriers](int steps) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < steps; ++i) work(barriers);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
}

struct Ratio {
  double value = 0;
  bool disturbed = false;
};

Ratio measured() {
  const Timer once = timed(1), often = timed(60);
  (void)once(1), (void)often(1);
  CpuWaits waits;
  const Rounds rounds = time_in_turn(once, 1, often, 1, {.seconds = 0.2},
                                     {.waited = [&] { return waits.by_others(); }});
  return {std::exp(trimmed_mean(rounds.log_ratios)), rounds.waited > disturbed_share};
}

// Other load on this machine is unknown: a ratio disturbed even without competitors passes, for it
// compares with nothing. Otherwise the one beside them must be near it or known to be disturbed.
// Processors taken from a virtual machine go unseen inside it, but not three times in a row.
bool moves_little_or_is_known(int competitors) {
  const Ratio alone = measured();
  const Competitors others(competitors);
  const Ratio beside = measured();
  std::cout << alone.value << " alone and " << beside.value << " beside " << competitors << "\n";
  return beside.disturbed || alone.disturbed ||
         std::abs(std::log(beside.value / alone.value)) < std::log(1.15);
}

TEST(Interference, CompetingProcessesMoveARatioLittleOrAreKnownToDisturbIt) {
  for (const int count : {1, 16})
    EXPECT_TRUE(moves_little_or_is_known(count) || moves_little_or_is_known(count) ||
                moves_little_or_is_known(count))
        << count;
}

bool moves_little_ahead_of(int competitors) {
  const MeasuringTurn turn("host");
  const Ratio alone = measured();
  const Competitors others(competitors);
  const Ratio beside = measured();
  std::cout << alone.value << " alone and " << beside.value << " ahead of " << competitors << "\n";
  return !beside.disturbed && std::abs(std::log(beside.value / alone.value)) < std::log(1.15);
}

TEST(Interference, CompetingProcessesMoveNoRatioOfThreadsThatAreAheadOfThem) {
  if (!host_limits().precedence) GTEST_SKIP() << "this machine grants no real-time scheduling";
  for (const int count : {1, 16})
    EXPECT_TRUE(moves_little_ahead_of(count) || moves_little_ahead_of(count) ||
                moves_little_ahead_of(count))
        << count;
}

// The competitor ends before the ratio is timed; the worse wait, of case or ratio, is reported.
TEST(Interference, ACaseTellsThatItsThreadsWaited) {
  cpu_set_t before;
  ASSERT_EQ(::sched_getaffinity(0, sizeof before, &before), 0);
  work(1);  // the team is there, and all of it stays where it is
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(::sched_getcpu(), &one);
  ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
  std::optional<Competitors> competitor(1);
  const auto long_step = [](Backend&, int) {
    for (const double begin = thread_cpu_seconds(); thread_cpu_seconds() - begin < 0.06;) continue;
  };
  Case toy = toy_case(long_step);
  toy.reference = false;
  toy.derived = {{.name = "ratio", .other = [&](Backend& backend) {
                    competitor.reset();
                    return std::make_unique<Toy>(backend);
                  }}};
  const Measurement measured =
      measure(toy, "host", {.budget = {.seconds = 0, .fewest_rounds = 3, .most_rounds = 3}});
  ASSERT_EQ(::sched_setaffinity(0, sizeof before, &before), 0);
  EXPECT_EQ(measured.status, Measurement::Status::ok) << measured.reason;
  EXPECT_GT(measured.waited_fraction, disturbed_share);
}

// Threads that have to wait are detected.
TEST(Interference, ThreadsThatTakeTurnsOnTheirProcessorsAreDisturbed) {
  const Competitors competitors(16);
  const Timer once = timed(1);
  (void)once(1);
  CpuWaits waits;
  const auto start = std::chrono::steady_clock::now();
  double waited = 0, spent = 0;
  while (spent < 0.5) {
    (void)once(1);
    waited = waits.by_others();
    spent = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  EXPECT_GT(waited, disturbed_share * spent);
}

}  // namespace
}  // namespace holdfast
