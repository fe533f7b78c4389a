// SPDX-License-Identifier: Apache-2.0
#include "gate/measure/suite_run.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <future>
#include <regex>
#include <vector>

#include "gate/documents/results_root.hpp"
#include "gate/measure/instruction_counts.hpp"
#include "gate/measure/suite_process.hpp"
#include "gate/measure/unfinished_run.hpp"

namespace holdfast::gate {
namespace {

class SuiteRuns : public testing::Test {
 protected:
  TemporaryFolder folder_{"suite-run-test"};
  SuiteTask task_{.binary = FAKE_SUITE_BINARY,
                  .device = "host",
                  .arguments = {"--tier=gate"},
                  .cases = {{.id = "fake_suite/add/n:8/f64", .tier = "gate"},
                            {.id = "fake_suite/scale/n:8/f64", .tier = "gate"}},
                  .effort = {.fewest = 3, .most = 3},
                  .timeout_seconds = 60,
                  .folder = folder_.path() / "processes",
                  .history = folder_.path() / "history"};

  SuiteRun run() {
    Progress progress("fake_suite");
    SuiteRun run;
    run_suite_processes(task_, progress, run);
    return run;
  }
};

TEST_F(SuiteRuns, EachCaseHasTheFewestProcessesAtLeast) {
  EXPECT_EQ(run().most_processes(), 3);
}

TEST(UnfinishedRuns, BeginAndEndBesideOthersInOneFolder) {
  const TemporaryFolder folder("unfinished");
  const auto begin_and_end = [&](const char* suite) {
    for (int i = 0; i < 100; ++i) {
      refuse_links(folder.path());
      const UnfinishedRun run(folder.path(), suite, "host", false, "");
    }
  };
  auto other = std::async(std::launch::async, begin_and_end, "fake_suite");
  EXPECT_NO_THROW(begin_and_end("toy"));
  EXPECT_NO_THROW(other.get());
}

TEST(CountedRuns, HaveTheCountOfTheReferenceToo) {
  ListedCase listed;
  listed.id = "toy/step/f64";
  listed.devices["host"] = {instructions_metric};
  const Metric counted = {.kind = "exact", .value = 1e6};
  const Metric promised = {.kind = "exact", .reason = "yet"};
  Results results;
  CaseResult& result = results.cases.emplace_back();
  result.id = listed.id;
  result.status = "ok";
  result.variants["optimized"].metrics[instructions_metric] = counted;
  result.variants["reference"].metrics[instructions_metric] = promised;
  EXPECT_FALSE(is_counted(results, {listed}));
  EXPECT_TRUE(is_counted(results, {})) << "nobody promised it";
  result.status = "failed";
  EXPECT_TRUE(is_counted(results, {listed})) << "it has no numbers";
  result.status = "ok";
  result.variants["reference"].metrics[instructions_metric] = counted;
  EXPECT_TRUE(is_counted(results, {listed}));
  listed.devices["host"].push_back(cycles_metric);
  EXPECT_FALSE(is_counted(results, {listed})) << "cycles neither";
  for (auto& [variant, content] : result.variants) content.metrics[cycles_metric] = counted;
  EXPECT_TRUE(is_counted(results, {listed}));
}

TEST(SuiteProcess, IsAskedForItsCasesByAPatternThatMatchesThemAlone) {
  const std::string id = "toy/step/n:1e+6/f64.v2", other = "toy/sum/f64";
  const std::regex filter(filter_of({id, other}));
  for (const std::string& one : {id, other}) EXPECT_TRUE(std::regex_match(one, filter)) << one;
  for (const char* one : {"toy/step/n:1ee6/f64.v2", "toy/step/n:1e+6/f64_v2"})
    EXPECT_FALSE(std::regex_match(one, filter)) << one;
}

TEST(CountedRuns, ThatAreInterruptedBeforePromiseNothing) {
  Results results;
  Metrics& metrics = results.cases.emplace_back().variants["optimized"].metrics;
  for (const char* name : {instructions_metric, cycles_metric, "peak_bytes"})
    metrics[name] = {.kind = "exact"};
  const Results without = without_counts(results);
  const Metrics& left = without.cases[0].variants.at("optimized").metrics;
  EXPECT_EQ(left.size(), 1u);
  EXPECT_TRUE(left.contains("peak_bytes"));
}

TEST_F(SuiteRuns, NoProcessBeginsAfterTheBudgetButTheFirst) {
  task_.budget_seconds = 1e-9;
  const SuiteRun done = run();
  EXPECT_EQ(done.most_processes(), 1);
  EXPECT_TRUE(done.lost.empty());
}

TEST_F(SuiteRuns, ABudgetOfNoSecondsHasTheFirstProcessAlone) {
  task_.budget_seconds = task_.bent_budget_seconds = 0;
  EXPECT_EQ(run().most_processes(), 1);
}

TEST_F(SuiteRuns, NoBudgetDeniesTheProcessesThatADecisionNeeds) {
  task_.budget_seconds = 1e-9;
  task_.effort.most = 8;
  task_.unbudgeted_processes = task_.effort.fewest;
  EXPECT_EQ(run().most_processes(), 3);
}

TEST_F(SuiteRuns, WhatOtherWorkBentHasABudgetOfItsOwn) {
  task_.budget_seconds = 1e-9;
  task_.bent_budget_seconds = 60;
  task_.effort.most = 5;
  task_.unbudgeted_processes = task_.effort.fewest;
  ::setenv("FAKE_SUITE", "disturbed", 1);  // all but its first case
  const SuiteRun done = run();
  task_.bent_budget_seconds = 1e-9;
  task_.folder += "-again";
  const SuiteRun spent = run();
  ::unsetenv("FAKE_SUITE");
  EXPECT_EQ(records_of(task_.cases.front().id, done.processes).size(), 3u);
  EXPECT_EQ(records_of(task_.cases.back().id, done.processes).size(), 5u);
  EXPECT_EQ(spent.most_processes(), 3);
}

TEST_F(SuiteRuns, WhereverOneIsStoppedItHadAsManyProcessesAsItsMostMeasuredCase) {
  SuiteRun stopped;
  for (const auto& ids : {std::vector{"a", "b"}, {"a"}, {"a"}}) {
    Results& one = stopped.processes.emplace_back();
    for (const char* id : ids) one.cases.emplace_back().id = id;
  }
  EXPECT_EQ(stopped.most_processes(), 3);
}

TEST_F(SuiteRuns, TheSecondsOfEachCaseAreKept) {
  (void)run();
  const std::string lines = read_file(task_.history);
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 2) << lines;
}

TEST(LimitOfACase, IsTenTimesItsHistoryAndAMinuteAtLeast) {
  EXPECT_EQ(limit_of_case(20, 300, 1), 200);
  EXPECT_EQ(limit_of_case(0.5, 300, 1), 60);
  EXPECT_EQ(limit_of_case({}, 300, 1), 300) << "nobody has timed it";
}

TEST(LimitOfACase, IsStretchedByWhatElseTheMachineHasToDo) {
  EXPECT_EQ(stretch_of_load(0, 16, 2), 8);
  EXPECT_EQ(stretch_of_load(0, 0.5, 2), 1);
  EXPECT_EQ(stretch_of_load(0, {}, 2), 1);
  EXPECT_EQ(limit_of_case(0.5, 300, stretch_of_load(0, 16, 2)), 480);
}

TEST(LimitOfACase, IsNotStretchedByCpusThatTheSuiteKeepsAwake) {
  EXPECT_EQ(stretch_of_load(load_of_keepers("host", 2, 2), 4, 2), 1);
  EXPECT_EQ(stretch_of_load(load_of_keepers("host", 4, 2), 8, 4), 2);  // too many to keep awake
  EXPECT_EQ(stretch_of_load(load_of_keepers("cuda-dry:sm_90", 2, 2), 4, 2), 2);
}

TEST_F(SuiteRuns, ACaseThatWasTimedHasMoreThanTheLimitOfOneThatWasNot) {
  write_file(task_.history, "0.1 fake_suite/add/n:8/f64\n");
  task_.timeout_seconds = 1;
  task_.effort = {.fewest = 1, .most = 1};
  ::setenv("FAKE_SUITE", "slow_in_case", 1);
  const SuiteRun done = run();
  ::unsetenv("FAKE_SUITE");
  EXPECT_TRUE(done.lost.empty());
}

TEST_F(SuiteRuns, WhatIsLostSaysWhyInTheListsOrder) {
  SuiteRun done = run();
  done.lost["fake_suite/add/n:8/f64"] = {"crashed", "because"};
  const Results results = merged(done, {}, task_.cases, {});
  ASSERT_EQ(results.cases.size(), 2u);
  EXPECT_EQ(results.cases[0].status, "crashed");
  EXPECT_EQ(results.cases[0].reason, "because");
  EXPECT_EQ(results.cases[1].status, "ok");
}

}  // namespace
}  // namespace holdfast::gate
