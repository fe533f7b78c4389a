// SPDX-License-Identifier: Apache-2.0
#include "harness/measure/timing.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <string>

namespace holdfast {
namespace {

// A clock that costs what it is told and remembers who asked.
Timer pretend(std::string& order, char who, double seconds_per_step) {
  return [&order, who, seconds_per_step](int steps) {
    order += who;
    return steps * seconds_per_step;
  };
}

const TimingBudget two_rounds = {.seconds = 0, .fewest_rounds = 2, .most_rounds = 2};

TEST(Timing, InterleavesTwoSidesAsABBA) {
  std::string order;
  time_in_turn(pretend(order, 'a', 1), 1, pretend(order, 'b', 1), 1, two_rounds);
  EXPECT_EQ(order, "abbaabba");
}

TEST(Timing, GivesSecondsPerStepWhateverTheBatch) {
  std::string order;
  const Rounds rounds =
      time_in_turn(pretend(order, 'a', 0.5), 4, pretend(order, 'b', 2), 1, two_rounds);
  EXPECT_THAT(rounds.a, testing::ElementsAre(0.5, 0.5));
  EXPECT_THAT(rounds.b, testing::ElementsAre(2, 2));
  EXPECT_DOUBLE_EQ(std::exp(rounds.log_ratios.at(0)), 4);
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
  const auto seconds =
      time_alone(pretend(order, 'a', 1), 1, {.seconds = 0, .fewest_rounds = 3, .most_rounds = 99});
  EXPECT_EQ(seconds.size(), 3);
}

TEST(Timing, BatchesStepsThatAreTooShortForTheClock) {
  std::string order;
  EXPECT_GE(batch_for(pretend(order, 'a', 1e-6), 2e-3) * 1e-6, 2e-3);
  EXPECT_EQ(batch_for(pretend(order, 'a', 1), 2e-3), 1);
}

TEST(Statistics, TheMedianOfAnEvenCountIsTheMeanOfTheMiddleTwo) {
  EXPECT_DOUBLE_EQ(median({4, 1, 3, 2}), 2.5);
}

TEST(Statistics, TheTrimmedMeanDropsAFifthOnEachSide) {
  EXPECT_DOUBLE_EQ(trimmed_mean({-1000, 1, 2, 3, 1000}), 2);
  EXPECT_DOUBLE_EQ(trimmed_mean({1, 3}), 2);
}

TEST(Statistics, TheTrimmedMeanOfAFewDropsOneOnEachSide) {
  EXPECT_DOUBLE_EQ(trimmed_mean({1, 1000, 2}), 2);
  EXPECT_DOUBLE_EQ(trimmed_mean({1, 3, 1000, 2}), 2.5);
}

}  // namespace
}  // namespace holdfast
