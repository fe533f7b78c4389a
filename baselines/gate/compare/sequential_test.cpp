// SPDX-License-Identifier: Apache-2.0
#include "gate/compare/sequential.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <random>

#include "gate/judge/screening.hpp"

namespace holdfast::gate {
namespace {

using testing::HasSubstr;
using testing::Not;

UnitValue unit(double log_ratio, double control = 0) {
  return {.real = log_ratio,
          .cpu = log_ratio,
          .seconds = 1,
          .control = UnitValue::Control{.real = control, .cpu = control, .seconds = 0}};
}

Comparison decided(const SequencePlan& plan, const UnitValue& always) {
  Sequence sequence(plan);
  while (sequence.wants_unit()) sequence.add(always);
  sequence.end();
  return sequence.found();
}

TEST(Sequence, EqualUnitsPassAtTheFirstLook) {
  const Comparison found = decided({}, unit(0));
  EXPECT_EQ(found.decision, Paired::pass);
  EXPECT_EQ(found.units.size(), 14u);
  EXPECT_EQ(found.seconds, 14);
}

TEST(Sequence, SlowerUnitsAreARegression) {
  EXPECT_EQ(decided({}, unit(std::log(1.05))).decision, Paired::regression);
}

TEST(Sequence, TheBudgetEndsItWithALastLookAtWhatThereIs) {
  const SequencePlan plan{.budget_seconds = 30, .looks = {.units = {5, 50}, .alpha = 0.2}};
  const Comparison found = decided(plan, unit(std::log(1.05)));
  EXPECT_EQ(found.units.size(), 30u);  // five were too few for their part of alpha
  EXPECT_EQ(found.decision, Paired::regression);
}

TEST(Sequence, WhatIsGivenBeforeTheLastLookGoesOn) {
  Sequence sequence({.budget_seconds = 10, .looks = {.units = {5, 50}, .alpha = 0.2}});
  while (sequence.wants_unit()) sequence.add(unit(std::log(1.05)));
  EXPECT_EQ(sequence.found().decision, Paired::undecided);
  sequence.give(20);
  while (sequence.wants_unit()) sequence.add(unit(std::log(1.05)));
  sequence.end();
  EXPECT_EQ(sequence.found().units.size(), 30u);
  EXPECT_EQ(sequence.found().decision, Paired::regression);
}

TEST(Sequence, AtTheToleranceItAlarmsAsRarelyAsAlphaSaysWhereverTheBudgetEnds) {
  std::mt19937_64 random(11);
  std::normal_distribution<double> noise(std::log1p(0.02), 0.03);
  std::uniform_real_distribution<double> budget(3, 60);
  int alarms = 0;
  constexpr int trials = 4000;
  for (int trial = 0; trial < trials; ++trial) {
    Sequence sequence({.budget_seconds = budget(random), .looks = {.alpha = 0.05}});
    while (sequence.wants_unit()) sequence.add(unit(noise(random)));
    sequence.give(budget(random));
    while (sequence.wants_unit()) sequence.add(unit(noise(random)));
    sequence.end();
    alarms += sequence.found().decision == Paired::regression;
  }
  EXPECT_LE(alarms, 0.06 * trials);
  EXPECT_GE(alarms, 0.01 * trials);
}

// How many of `draws` comparisons, with half a second per unit, fail for code with this loss.
int regressions(int draws, double noise, double loss, std::mt19937_64& random) {
  std::normal_distribution<double> chance(std::log1p(loss), noise);
  int found = 0;
  for (int draw = 0; draw < draws; ++draw) {
    Sequence sequence({});
    while (sequence.wants_unit()) {
      UnitValue one = unit(chance(random));
      one.seconds = 0.5;
      sequence.add(one);
    }
    sequence.end();
    found += sequence.found().decision == Paired::regression;
  }
  return found;
}

TEST(Sequence, TheLossThatItIsSaidToShowIsFoundAndAThirdOfItIsNot) {
  std::mt19937_64 random(5);
  for (const double noise : {0.005, 0.02, 0.05}) {
    EXPECT_GE(regressions(100, noise, 1.3 * lock_step_resolution, random), 90) << noise;
    EXPECT_LE(regressions(100, noise, 0.3 * lock_step_resolution, random), 10) << noise;
  }
}

// For equal builds, by what their own comparison reported.
TEST(Sequence, TheLossThatItTellsAsTheSmallestIsFoundAndAThirdOfItIsNot) {
  std::mt19937_64 random(6);
  for (const double noise : {0.005, 0.02, 0.05}) {
    std::normal_distribution<double> chance(0, noise);
    int found = 0, alarms = 0;
    for (int draw = 0; draw < 100; ++draw) {
      Sequence equal({});
      while (equal.wants_unit()) equal.add(unit(chance(random)));
      equal.end();
      const double told = smallest_shown(equal.found().shift, SequencePlan().tolerance);
      found += regressions(1, noise, 1.3 * told, random);
      alarms += regressions(1, noise, 0.3 * told, random);
    }
    EXPECT_GE(found, 90) << noise;
    EXPECT_LE(alarms, 10) << noise;
  }
}

TEST(Sequence, RealTimeDecidesOnAQuietMachine) {
  UnitValue quiet = unit(0);
  quiet.cpu = std::log(1.1);
  const Comparison found = decided({}, quiet);
  EXPECT_EQ(found.clock, Clock::real);
  EXPECT_EQ(found.decision, Paired::pass);
  EXPECT_DOUBLE_EQ(found.by_other_clock, std::log(1.1));
}

TEST(Sequence, CpuTimeDecidesWhereOthersComputeAndSaysSo) {
  UnitValue busy = unit(std::log(1.1));
  busy.real = 0;
  busy.others = 0.4;
  const Comparison found = decided({}, busy);
  EXPECT_EQ(found.decision, Paired::regression);
  EXPECT_THAT(describe(found, 0.02), HasSubstr("by CPU time, because others had 40 % of the "
                                               "machine (by real time +0 %)"));
}

TEST(Sequence, TheClockIsChosenByTheMiddleOfTheUnitsAtTheFirstLookAndKept) {
  const auto clock_of = [](double first, double next, double later) {
    // Too far apart for a decision at any look.
    Sequence sequence({.budget_seconds = 30});
    for (int i = 0; sequence.wants_unit(); ++i) {
      UnitValue one = unit(i % 2 == 0 ? 0.5 : -0.5);
      one.others = i == 0 ? first : i < 14 ? next : later;
      sequence.add(one);
    }
    EXPECT_GE(sequence.found().units.size(), 20u);
    return sequence.found().clock;
  };
  EXPECT_EQ(clock_of(0.9, 0.05, 0.05), Clock::real) << "one unit is not the machine";
  EXPECT_EQ(clock_of(0.2, 0.2, 0.2), Clock::cpu);
  EXPECT_EQ(clock_of(0.05, 0.05, 0.9), Clock::real);
  EXPECT_EQ(clock_of(0.9, 0.9, 0), Clock::cpu);
}

TEST(Sequence, TheShareThatIsToldIsTheOneThatChoseTheClock) {
  Sequence sequence({.budget_seconds = 40});
  for (int i = 0; sequence.wants_unit(); ++i) {
    UnitValue one = unit(i % 2 == 0 ? 0.5 : -0.5);
    one.others = i < 14 ? 0.4 : 0;
    sequence.add(one);
  }
  EXPECT_GE(sequence.found().units.size(), 40u);
  EXPECT_THAT(describe(sequence.found(), 0.02), HasSubstr("others had 40 % of the machine"));
}

TEST(Sequence, ItsControlIsPaidForFromItsBudget) {
  UnitValue controlled = unit(0);
  controlled.control->seconds = 0.5;
  EXPECT_EQ(decided({}, controlled).seconds, 14 + 7 * 0.5);
}

// On a machine with other work: the same CPU time as before, or less, by half as many threads.
TEST(Sequence, FewerThreadsAtOnceAreALossAlsoWhereCpuTimeIsWon) {
  for (const double cpu : {0., std::log(0.9)}) {
    UnitValue unshared = unit(cpu);
    unshared.real = 0;
    unshared.others = 0.4;
    unshared.threads = 2;
    unshared.at_once = std::log(0.5);
    EXPECT_EQ(decided({}, unshared).decision, Paired::regression) << cpu;
    unshared.at_once = 0;
    EXPECT_NE(decided({}, unshared).decision, Paired::regression) << cpu;
    EXPECT_NE(decided({}, unshared).decision, Paired::undecided) << cpu;
  }
}

TEST(Sequence, ThreadsThatAFewUnitsDoNotTellOfDecideNothing) {
  Sequence sequence({.looks = {.units = {14}, .alpha = 0.2}});
  for (int i = 0; sequence.wants_unit(); ++i) {
    UnitValue one = unit(0);
    one.others = 0.4;
    one.threads = 2;
    if (i > 1) one.at_once = 0;
    sequence.add(one);
  }
  EXPECT_EQ(sequence.found().decision, Paired::undecided);
}

TEST(Sequence, SamplesOnAGpuThatWasSlowedDownForMoreThanAQuarterDecideNothing) {
  UnitValue slow = unit(std::log(1.1));
  slow.disturbed = 0.25;
  const Comparison few = decided({}, slow);
  EXPECT_EQ(few.decision, Paired::regression);
  EXPECT_THAT(describe(few, 0.02), HasSubstr("shared in 25 % of the samples, the reference"));
  slow.disturbed = 0.3;
  const Comparison many = decided({}, slow);
  EXPECT_EQ(many.decision, Paired::undecided);
  EXPECT_THAT(describe(many, 0.02), HasSubstr("slowed down or shared in 30 % of the samples, which "
                                              "decide nothing"));
}

TEST(Sequence, WorkThatIsNoLongerSharedAmongThreadsIsNoPass) {
  UnitValue busy = unit(std::log(1.9));
  busy.cpu = 0;
  busy.others = 0.4;
  EXPECT_EQ(decided({}, busy).decision, Paired::undecided);
}

TEST(Sequence, ASlowdownOfSomeStepsThatOnlyTheMeanShowsIsNoPass) {
  for (const double by_quartiles : {0., -0.08}) {
    UnitValue partly = unit(by_quartiles);
    partly.means = UnitValue::Means{.real = std::log(1.1), .cpu = 0};
    const Comparison found = decided({}, partly);
    EXPECT_EQ(found.decision, Paired::undecided) << by_quartiles;
    EXPECT_THAT(describe(found, 0.02),
                HasSubstr(", but in the mean +10 % (+10 % .. +10 %), so that it does not pass"));
    EXPECT_NE(decided({.clock = Clock::cpu}, partly).decision, Paired::undecided) << by_quartiles;
  }
}

TEST(Sequence, AMeanThatIsBeyondTheToleranceButNotClearlyIsNoPassEither) {
  Sequence sequence({});
  for (int i = 0; sequence.wants_unit(); ++i) {
    UnitValue one = unit(0);
    one.means = UnitValue::Means{.real = std::log(0.98 + 0.0225 * (i % 5))};
    sequence.add(one);
  }
  sequence.end();
  EXPECT_EQ(sequence.found().decision, Paired::undecided);
  EXPECT_THAT(describe(sequence.found(), 0.02), HasSubstr(", but in the mean +"));
  EXPECT_LT(sequence.found().means.value().lower, std::log(1.02));
}

TEST(Sequence, AMeanWithinTheToleranceOrThatAUnitDoesNotTellKeepsNothingFromPassing) {
  UnitValue one = unit(0);
  one.means = UnitValue::Means{.real = std::log(1.01)};
  EXPECT_EQ(decided({}, one).decision, Paired::pass);
  one.means->real = std::log(1.1);
  Sequence sequence({});
  sequence.add(unit(0));
  while (sequence.wants_unit()) sequence.add(one);
  EXPECT_EQ(sequence.found().decision, Paired::pass);
  EXPECT_THAT(describe(sequence.found(), 0.02), Not(HasSubstr("in the mean")));
}

TEST(Sequence, AClockThatIsAskedForDecides) {
  UnitValue busy = unit(std::log(1.1));
  busy.cpu = 0;
  busy.others = 0.4;
  EXPECT_EQ(decided({.clock = Clock::real}, busy).decision, Paired::regression);
  busy.others = 0;
  EXPECT_EQ(decided({.clock = Clock::cpu}, busy).decision, Paired::pass);
}

TEST(Sequence, AClockThatIsAskedForIsNotPutDownToOthers) {
  UnitValue busy = unit(0);
  busy.real = std::log(1.1);
  busy.others = 0.4;
  EXPECT_THAT(describe(decided({.clock = Clock::cpu}, busy), 0.02),
              HasSubstr(" by CPU time (by real time +10 %)"));
}

TEST(Sequence, AReferenceThatMovedAsMuchIsTheEnvironment) {
  EXPECT_EQ(decided({}, unit(0.08, 0.08)).decision, Paired::environment);
  EXPECT_EQ(decided({}, unit(-0.08, -0.08)).decision, Paired::environment);
}

TEST(Sequence, AReferenceThatMovedAsMuchExcusesNoTime) {
  EXPECT_EQ(of_time(decided({}, unit(0.08, 0.08))), Paired::regression);
  EXPECT_EQ(of_time(decided({}, unit(-0.08, -0.08))), Paired::improved);
  EXPECT_EQ(of_time(decided({}, unit(0))), Paired::pass);
}

TEST(Sequence, AReferenceThatMovedLessOrTheOtherWayExcusesNothing) {
  EXPECT_EQ(decided({}, unit(0.08, 0.05)).decision, Paired::regression);
  EXPECT_EQ(decided({}, unit(0.03, 0.012)).decision, Paired::regression);
  EXPECT_EQ(decided({}, unit(0.08, -0.08)).decision, Paired::regression);
}

TEST(Sequence, AReferenceOfTooFewUnitsExcusesNothing) {
  const SequencePlan plan{.looks = {.units = {7}, .alpha = 0.05}};  // four of them with a control
  EXPECT_EQ(decided(plan, unit(0.08, 0.08)).decision, Paired::regression);
}

TEST(Sequence, TheControlIsMostlyMeasuredBeforeTheFirstLook) {
  Sequence sequence({.budget_seconds = 1e9});
  std::vector<int> with;
  for (int n = 0; n < 40; ++n) {
    if (sequence.wants_control()) with.push_back(n);
    sequence.add(unit(n % 2 == 0 ? 0.3 : -0.3));
  }
  EXPECT_EQ(with, (std::vector<int>{0, 2, 4, 6, 8, 10, 12, 16, 24, 32}));
}

TEST(Sequence, WhatFewUnitsSayIsUnbounded) {
  const Comparison found = decided({.budget_seconds = 1}, unit(0));
  EXPECT_EQ(found.decision, Paired::undecided);
  EXPECT_THAT(describe(found, 0.02), HasSubstr("unbounded .. unbounded"));
  EXPECT_THAT(describe(found, 0.02), Not(HasSubstr("smallest slowdown")));
}

}  // namespace
}  // namespace holdfast::gate
