// SPDX-License-Identifier: Apache-2.0
#include "gate/measure/schedule.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace holdfast::gate {
namespace {

// Processes of a case that measured these ratios.
struct Found {
  std::vector<CaseResult> results = {};

  explicit Found(const std::vector<double>& speedups, const std::string& kind = "ratio",
                 double waited = 0) {
    for (const double value : speedups) {
      CaseResult result{.id = "toy/a/f64", .tier = "gate"};
      result.metrics["speedup"] = {.kind = kind, .processes = {value}, .median = value};
      result.metrics[waited_metric] = {.kind = "advisory", .value = waited};
      results.push_back(result);
    }
  }
  CaseRecords records() const {
    CaseRecords all;
    for (const CaseResult& result : results) all.push_back(&result);
    return all;
  }
};

constexpr double usual = 73e-9;  // seconds of a hand-over
constexpr Effort effort = {.fewest = 5, .most = 10, .most_if_promising = 20, .limit = 0.05};

bool wants(const Found& measured) {
  return wants_another(measured.records(), usual, effort);
}

TEST(Schedule, TheIntervalIsStudents) {
  // sd 0.1 of two logs: 12.71 * 0.1 / sqrt(2).
  const double apart = 0.1 * std::sqrt(2);
  EXPECT_NEAR(*half_width({1, std::exp(apart)}), 12.71 * 0.1 / std::sqrt(2), 1e-12);
  EXPECT_FALSE(half_width({1}));
}

TEST(Schedule, WhatIsTimedHasFiveProcesses) {
  EXPECT_TRUE(wants(Found({10, 10, 10, 10})));
  EXPECT_FALSE(wants(Found({10, 10, 10, 10, 10})));
}

TEST(Schedule, ARatioThatIsNotKnownWithinTheLimitHasMore) {
  const std::vector<double> wide = {10, 12, 9, 11, 13};
  EXPECT_TRUE(wants(Found(wide)));
  EXPECT_FALSE(wants(Found(wide, "time")));  // it warns at most
}

TEST(Schedule, NoRatioHasMoreThanTheMost) {
  EXPECT_FALSE(wants(Found({10, 20, 10, 20, 10, 20, 10, 20, 10, 20})));
}

TEST(Schedule, CountsAreLookedAtTwice) {
  EXPECT_TRUE(wants(Found({4}, "exact")));
  EXPECT_FALSE(wants(Found({4, 4}, "exact")));
}

TEST(Schedule, WhatFailedIsNotMeasuredAgain) {
  Found failed({10});
  failed.results[0].status = "failed";
  EXPECT_FALSE(wants(failed));
}

TEST(Schedule, ADisturbedProcessTakesNobodysPlace) {
  EXPECT_TRUE(wants(Found({10, 10, 10, 10, 10}, "ratio", 0.5)));
  EXPECT_FALSE(is_disturbed(Found({10}, "ratio", 0.01).results[0]));
}

// Disturbed processes, except the first `undisturbed`.
Found often_disturbed(std::size_t processes, std::size_t undisturbed) {
  Found found(std::vector<double>(processes, 10), "ratio", 0.5);
  for (std::size_t i = 0; i < undisturbed; ++i)
    found.results[i].metrics[waited_metric] = {.kind = "advisory", .value = 0};
  return found;
}

TEST(Schedule, ACaseOfWhichSomeProcessesWereDisturbedHasMoreUntilFiveWereNot) {
  EXPECT_TRUE(wants(often_disturbed(10, 4)));
  EXPECT_FALSE(wants(often_disturbed(11, 5)));
  EXPECT_FALSE(wants(often_disturbed(20, 4)));
}

TEST(Schedule, WhereAllOfTheMostWereDisturbedNoneIsLookedForBeyond) {
  EXPECT_TRUE(wants(often_disturbed(9, 0)));
  EXPECT_FALSE(wants(often_disturbed(10, 0)));
}

TEST(Schedule, ProcessesOnSharedCoresAreLeftOutWhereFiveOthersRemain) {
  Found wide({10, 10, 10, 10, 7});
  wide.results[4].metrics[shared_metric] = {.kind = "advisory", .value = 1};
  EXPECT_EQ(left_out(wide.records(), usual), std::vector<bool>(5, false));
  wide.results.push_back(wide.results[0]);
  EXPECT_EQ(left_out(wide.records(), usual),
            (std::vector<bool>{false, false, false, false, true, false}));
  EXPECT_FALSE(wants(wide));
}

// Processes of which those that measured 7 ran on shared cores.
Found beside_others(const std::vector<double>& speedups) {
  Found found(speedups);
  for (CaseResult& result : found.results)
    if (result.metrics["speedup"].median == 7)
      result.metrics[shared_metric] = {.kind = "advisory", .value = 1};
  return found;
}

TEST(Schedule, FiveProcessesWithCoresOfTheirOwnAreLookedFor) {
  EXPECT_TRUE(wants(beside_others({10, 10, 10, 10, 7})));
  EXPECT_TRUE(wants(beside_others({7, 7, 7, 7, 10})));
  EXPECT_FALSE(wants(beside_others({10, 10, 7, 10, 10, 7, 10})));
}

TEST(Schedule, WhereNoneOfFiveHadCoresOfItsOwnNoneIsLookedFor) {
  EXPECT_FALSE(wants(beside_others({7, 7, 7, 7, 7})));
}

// In one process the two processors stood apart.
Found once_apart(double handover_seconds) {
  Found found({10, 10, 10, 10, 7});
  for (CaseResult& result : found.results)
    result.metrics[handover_metric] = {.kind = "time", .processes = {usual}, .median = usual};
  found.results[4].metrics[handover_metric] = {
      .kind = "time", .processes = {handover_seconds}, .median = handover_seconds};
  return found;
}

TEST(Schedule, AProcessWhoseProcessorsStoodApartIsLeftOutWhereFiveOthersRemain) {
  Found found = once_apart(318e-9);
  EXPECT_EQ(left_out(found.records(), usual), std::vector<bool>(5, false));
  EXPECT_TRUE(wants(found));
  found.results.push_back(found.results[0]);
  EXPECT_EQ(left_out(found.records(), usual),
            (std::vector<bool>{false, false, false, false, true, false}));
  EXPECT_FALSE(wants(found));
}

TEST(Schedule, WhereAllStoodApartFromOtherCasesThoseThatDidNotAreLookedForThoughTheyAgree) {
  Found found = once_apart(318e-9);
  found.results.assign(9, found.results[4]);
  EXPECT_EQ(left_out(found.records(), usual), std::vector<bool>(9, false));
  EXPECT_TRUE(wants(found));
  found.results.resize(15, once_apart(usual).results[0]);
  EXPECT_EQ(std::ranges::count(left_out(found.records(), usual), true), 9);
  EXPECT_FALSE(wants(found));
  found.results.assign(20, found.results[0]);
  EXPECT_FALSE(wants(found));
}

TEST(Schedule, AHandOverOfMostCasesIsTheUsualOne) {
  std::vector<Results> processes(3);
  for (Results& process : processes)
    for (const double seconds : {72e-9, 318e-9, 70e-9, 479e-6}) {
      CaseResult result;
      result.metrics[handover_metric] = {.kind = "time", .processes = {seconds}, .median = seconds};
      process.cases.push_back(result);
    }
  EXPECT_EQ(usual_handover(processes), 72e-9);
  EXPECT_EQ(usual_handover({}), 0);
}

TEST(Schedule, AProcessWhoseThreadsHadOneCoreIsLeftOutAndNotAllOthers) {
  Found found = once_apart(35e-9);
  found.results.push_back(found.results[0]);
  EXPECT_EQ(left_out(found.records(), usual),
            (std::vector<bool>{false, false, false, false, true, false}));
}

TEST(Schedule, WhereAllShareCoresOneThatStoodApartIsStillLeftOut) {
  Found found = once_apart(318e-9);
  found.results.push_back(found.results[0]);
  for (CaseResult& result : found.results)
    result.metrics[shared_metric] = {.kind = "advisory", .value = 1};
  EXPECT_EQ(left_out(found.records(), usual),
            (std::vector<bool>{false, false, false, false, true, false}));
}

TEST(Schedule, AHandOverThatWaitedForTheSchedulerTellsNothing) {
  Found found = once_apart(479e-6);
  found.results.push_back(found.results[0]);
  EXPECT_EQ(left_out(found.records(), usual), std::vector<bool>(6, false));
}

TEST(Schedule, AWideIntervalAloneIsNoWorkOfTheMachine) {
  EXPECT_FALSE(was_bent(Found({10, 12, 9, 11, 13}).records(), usual));
  EXPECT_TRUE(was_bent(Found({10}, "ratio", 0.5).records(), usual));
}

TEST(Schedule, NobodyLooksForThemForEver) {
  EXPECT_FALSE(wants(beside_others(std::vector<double>(10, 7))));  // all agree
  std::vector<double> speedups(10, 7);
  speedups[3] = speedups[4] = 10;
  EXPECT_TRUE(wants(beside_others(speedups)));
  speedups.resize(20, 7);
  EXPECT_FALSE(wants(beside_others(speedups)));
}

}  // namespace
}  // namespace holdfast::gate
