// SPDX-License-Identifier: Apache-2.0
#include "harness/measure/timing.hpp"

#include <gmock/gmock.h>

#include <chrono>
#include <cmath>
#include <string>
#include <thread>
#include <vector>

namespace holdfast {
namespace {

// A clock with scripted costs that records its callers.
Timer pretend(std::string& order, char who, double seconds_per_step) {
  return [&order, who, seconds_per_step](int steps) {
    order += who;
    return steps * seconds_per_step;
  };
}

// A budget of rounds of short samples, however long interruptions make them: beyond the minimum as
// many as the seconds allow.
TimingBudget from_to(int fewest, int most, double seconds = 60) {
  return {.seconds = seconds,
          .fewest_rounds = fewest,
          .long_round_seconds = 1e9,
          .most_rounds = most,
          .long_sample_seconds = 1e9,
          .settled_error = 0,
          .patience = 1};
}

const TimingBudget two_rounds = from_to(2, 2);

TEST(Timing, InterleavesTwoSidesAsABBA) {
  std::string order;
  time_in_turn(pretend(order, 'a', 1), 1, pretend(order, 'b', 1), 1, two_rounds);
  EXPECT_EQ(order, "abbaabba");
}

TEST(Timing, TakesLongSamplesOnceARoundWithEitherSideFirstInTurn) {
  std::string order;
  const auto sleeping = [&](char who) {
    return [&order, who](int) {
      order += who;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      return 1.;
    };
  };
  TimingBudget budget = two_rounds;
  budget.long_sample_seconds = 1e-3;
  time_in_turn(sleeping('a'), 1, sleeping('b'), 1, budget);
  EXPECT_EQ(order, "abba");
  order.clear();
  time_alone(sleeping('a'), 1, budget);
  EXPECT_EQ(order, "aa");
}

TEST(Timing, TakesTwoRoundsWhereTheyAreLong) {
  std::string order;
  const Timer slow = [&](int) {
    order += 'a';
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    return 1.;
  };
  const auto taken = [&](double long_round_seconds) {
    order.clear();
    (void)time_alone(slow, 1,
                     {.seconds = 0,
                      .fewest_rounds = 3,
                      .long_round_seconds = long_round_seconds,
                      .long_sample_seconds = 1e-3});
    return order;
  };
  EXPECT_EQ(taken(1e-3), "aa");
  EXPECT_EQ(taken(1e9), "aaa");
}

TEST(Timing, GivesSecondsPerStepWhateverTheBatch) {
  std::string order;
  const Rounds rounds =
      time_in_turn(pretend(order, 'a', 0.5), 4, pretend(order, 'b', 2), 1, two_rounds);
  EXPECT_THAT(rounds.a, testing::ElementsAre(0.5, 0.5));
  EXPECT_THAT(rounds.b, testing::ElementsAre(2, 2));
  EXPECT_DOUBLE_EQ(std::exp(rounds.log_ratios.at(0)), 4);
  EXPECT_EQ(time_alone(pretend(order, 'a', 0.5), 4, two_rounds).seconds.at(0), 0.5);
}

TEST(Timing, ADriftThatIsLinearInTimeLeavesTheRatioAsItIs) {
  double now = 0;
  const auto drifting = [&](double seconds) {
    return [&now, seconds](int) {
      now += 0.01;
      return seconds + now;
    };
  };
  const Rounds rounds = time_in_turn(drifting(1), 1, drifting(1), 1, two_rounds);
  EXPECT_NEAR(rounds.log_ratios.at(0), 0, 1e-12);
}

TEST(Timing, BeginsNoRoundAfterTheBudgetBeyondTheFewest) {
  std::string order;
  const auto alone = time_alone(pretend(order, 'a', 1), 1, from_to(3, 99, 0));
  EXPECT_EQ(alone.seconds.size(), 3);
}

// Scripted waits, which grow with each round by `waited` seconds.
struct Machine {
  std::vector<double> waited;  // by round
  std::size_t round = 0;
  double sum = 0;
  Others others() {
    return {.waited = [this, asked = 0]() mutable {
      if (asked++ % 2 == 1 && round < waited.size()) sum += waited[round++];
      return sum;
    }};
  }
};

TEST(Timing, LeavesOutRoundsInWhichThreadsWaitedForACpu) {
  // In a disturbed round b takes a hundred times as long. Rounds are far shorter than these waits.
  constexpr double wait = 0.9 * disturbed_share;
  Machine machine{.waited = {0, wait, 0, wait, 0, 0, wait, 0, 0, 0}};
  const Timer a = [](int) { return 1.; };
  const Timer b = [&](int) { return machine.waited[machine.round] > 0 ? 300. : 3.; };
  const Rounds rounds = time_in_turn(a, 1, b, 1, from_to(3, 10), machine.others());
  EXPECT_EQ(rounds.log_ratios.size(), 7u);
  for (const double log : rounds.log_ratios) EXPECT_DOUBLE_EQ(std::exp(log), 3);
  EXPECT_EQ(rounds.waited, 0);
}

TEST(Timing, TellsHowLongThreadsWaitedWhereNoRoundWasUndisturbed) {
  const Machine busy{.waited = std::vector<double>(12, 1)};
  Machine machine = busy, another = busy;
  const Timer one = [](int) { return 1.; };
  EXPECT_GT(time_in_turn(one, 1, one, 1, from_to(3, 3), another.others()).waited, disturbed_share);
  const Alone alone = time_alone(one, 1, from_to(3, 3), machine.others());
  EXPECT_EQ(alone.seconds.size(), 3u);
  EXPECT_GT(alone.waited, disturbed_share);
}

// Of a hundred rounds only the first ones are undisturbed.
double waited_where_undisturbed(std::size_t first) {
  Machine machine{.waited = std::vector<double>(100, 1)};
  std::fill_n(machine.waited.begin(), first, 0);
  const Timer one = [](int) { return 1.; };
  return time_alone(one, 1, from_to(3, 100), machine.others()).waited;
}

TEST(Timing, TheFewUndisturbedRoundsOfAHundredAreNoQuietMachine) {
  EXPECT_EQ(waited_where_undisturbed(5), 0);
  EXPECT_GT(waited_where_undisturbed(4), disturbed_share);
}

TEST(Timing, ReplacesLongRoundsInWhichThreadsWaitedForACpu) {
  Machine machine{.waited = {0, 1, 0, 0}};
  const Timer one = [](int) { return 1.; };
  TimingBudget budget = from_to(3, 3);
  budget.patience = 4;
  const Alone alone = time_alone(one, 1, budget, machine.others());
  EXPECT_EQ(alone.seconds.size(), 3u);
  EXPECT_EQ(alone.waited, 0);
}

// Scripted looks at a core, before the first round and after each.
Others beside(const std::vector<bool>& now) {
  return {.share = [now, look = std::size_t{0}]() mutable {
    const std::size_t at = look++;
    return at < now.size() && now[at];
  }};
}

TEST(Timing, LeavesOutRoundsThatBeginOrEndOnASharedCore) {
  // The third look falls between the second and the third round.
  int calls = 0;
  const Timer a = [](int) { return 1.; };
  const Timer b = [&](int) {
    const int round = calls++ / 2;
    return round == 1 || round == 2 ? 5. : 3.;
  };
  const Rounds rounds =
      time_in_turn(a, 1, b, 1, from_to(3, 8),
                   beside({false, false, true, false, false, false, false, false, false}));
  EXPECT_EQ(rounds.log_ratios.size(), 6u);
  for (const double log : rounds.log_ratios) EXPECT_DOUBLE_EQ(std::exp(log), 3);
  EXPECT_EQ(rounds.shared, 0);
}

TEST(Timing, TellsThatACoreWasSharedWhereNoOtherRoundsAreLeft) {
  const Timer one = [](int) { return 1.; };
  const Alone alone = time_alone(one, 1, from_to(3, 3), beside(std::vector<bool>(99, true)));
  EXPECT_EQ(alone.seconds.size(), 3u);
  EXPECT_EQ(alone.shared, 1);
  EXPECT_EQ(alone.waited, 0);
}

// Shared for the first 60 looks, more than the maximum of 1 ms rounds, however often they are
// interrupted.
std::size_t rounds_beside_a_burst(int short_rounds, bool lasts = false) {
  const Timer millisecond = [](int) {
    std::this_thread::sleep_for(std::chrono::microseconds(500));
    return 1.;
  };
  std::vector<bool> now(60, true);
  Others others = beside(now);
  others.lasts = lasts;
  TimingBudget budget = from_to(3, 20);
  budget.short_rounds = short_rounds;
  return time_alone(millisecond, 1, budget, others).seconds.size();
}

TEST(Timing, WaitsForTheEndOfABurstOnASharedCoreWhereRoundsAreShort) {
  EXPECT_EQ(rounds_beside_a_burst(10), 3u);
}

TEST(Timing, WaitsForNoEndOfABurstWhereRoundsAreLong) {
  EXPECT_GT(rounds_beside_a_burst(1000), 3u);
}

TEST(Timing, WaitsForNoEndOfSharingThatLasts) {
  EXPECT_GT(rounds_beside_a_burst(10, true), 3u);
}

TEST(Timing, EndsWhereMoreRoundsWouldTellNothing) {
  int steps = 0;
  const Timer real = [&](int) {
    ++steps;
    const auto start = std::chrono::steady_clock::now();
    std::chrono::duration<double> spent{};
    while (spent.count() < 1e-4) spent = std::chrono::steady_clock::now() - start;
    return 1.;
  };
  const auto begun = std::chrono::steady_clock::now();
  const Rounds rounds = time_in_turn(
      real, 1, real, 1,
      {.seconds = 600, .most_rounds = 1 << 20, .settled_error = 0.002, .settled_seconds = 0.01});
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begun;
  EXPECT_LT(spent.count(), 300);
  EXPECT_GE(rounds.log_ratios.size(), 3u);
}

TEST(Timing, BatchesStepsThatAreTooShortForTheClock) {
  std::string order;
  EXPECT_GE(batch_for(pretend(order, 'a', 1e-6), 2e-3) * 1e-6, 2e-3);
  EXPECT_EQ(batch_for(pretend(order, 'a', 1), 2e-3), 1);
}

TEST(Statistics, TheMedianIsTheMiddleOneOrTheMeanOfTheMiddleTwo) {
  EXPECT_DOUBLE_EQ(median({4, 1, 3, 2}), 2.5);
  EXPECT_DOUBLE_EQ(median({9, 1, 2}), 2);
  EXPECT_DOUBLE_EQ(median({7}), 7);
}

TEST(Statistics, TheTrimmedMeanDropsAFifthOnEachSide) {
  EXPECT_DOUBLE_EQ(trimmed_mean({-1000, 1, 2, 3, 1000}), 2);
  EXPECT_DOUBLE_EQ(trimmed_mean({-1000, -1000, 1, 2, 3, 4, 5, 12, 1000, 2000}), 4.5);
  EXPECT_DOUBLE_EQ(trimmed_mean({1, 3}), 2);
}

TEST(Statistics, TheTrimmedMeanOfAFewDropsOneOnEachSide) {
  EXPECT_DOUBLE_EQ(trimmed_mean({1, 1000, 2}), 2);
  EXPECT_DOUBLE_EQ(trimmed_mean({1, 3, 1000, 2}), 2.5);
}

}  // namespace
}  // namespace holdfast
