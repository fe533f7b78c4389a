// SPDX-License-Identifier: Apache-2.0
#include "gate/measure/processes.hpp"
#include "gate/documents/baseline.hpp"

#include <gmock/gmock.h>

#include <cmath>

#include "gate/documents/measured_part.hpp"
#include "gate/documents/verdict_names.hpp"
#include "gate/judge/screening.hpp"

namespace holdfast::gate {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

Metric exact(double value) {
  return {.kind = "exact", .value = value};
}
Metric time_of(double seconds) {
  return {
      .kind = "time", .processes = {seconds}, .median = seconds, .mad_between = 0, .samples = 100};
}

// What one process reports of one case.
Results process(const Metrics& metrics, const std::string& identity = "sha256:aa") {
  CaseResult result{.id = "suite/case/f64", .tier = "gate", .executed = true};
  result.check = {.status = "passed", .error = 1e-15, .limit = 1e-12};
  result.variants["optimized"] = {.identity = identity, .metrics = metrics};
  Results results{.suite = "suite",
                  .tier = "gate",
                  .env = {.device_class = "host", .device_name = "host", .fingerprint = "f"}};
  results.cases.push_back(result);
  return results;
}

const CaseResult& only_case(const Results& results) {
  return results.cases.at(0);
}
const Metric& metric(const Results& results, const std::string& name) {
  return only_case(results).variants.at("optimized").metrics.at(name);
}

TEST(Merge, TimesKeepOneNumberPerProcess) {
  const Results merged =
      merge({process({{"time_s", time_of(3)}}), process({{"time_s", time_of(1)}}),
             process({{"time_s", time_of(10)}})});
  const Metric& time = metric(merged, "time_s");
  EXPECT_THAT(time.processes, ElementsAre(3, 1, 10));
  EXPECT_EQ(time.median, 3);
  EXPECT_EQ(time.mad_between, 2);
  EXPECT_EQ(time.samples, 300);
  EXPECT_EQ(merged.run.processes, 3);
}

TEST(Merge, AnEvenNumberOfProcessesHasTheMeanOfTheMiddleTwo) {
  const Results merged =
      merge({process({{"time_s", time_of(1)}}), process({{"time_s", time_of(2)}})});
  EXPECT_EQ(metric(merged, "time_s").median, 1.5);
}

TEST(Merge, CeilingsAreTheBestThatAnyProcessSaw) {
  std::vector<Results> processes = {process({}), process({}), process({})};
  const double bandwidths[] = {2e10, 3e10, 1e10}, latencies[] = {5e-6, 3e-6, 4e-6};
  for (std::size_t i = 0; i < processes.size(); ++i)
    processes[i].ceilings = {{"memory_bytes_per_s", bandwidths[i]},
                             {"barrier_s", latencies[i]},
                             {"l2_bytes_per_s", std::nullopt}};
  const Results merged = merge(processes);
  EXPECT_EQ(merged.ceilings.at("memory_bytes_per_s"), 3e10);
  EXPECT_EQ(merged.ceilings.at("barrier_s"), 3e-6);
  EXPECT_EQ(merged.ceilings.at("l2_bytes_per_s"), std::nullopt);
}

TEST(Merge, CountsThatAgreeStay) {
  const Results merged =
      merge({process({{"launches", exact(4)}}), process({{"launches", exact(4)}})});
  EXPECT_EQ(only_case(merged).status, "ok");
  EXPECT_EQ(metric(merged, "launches").value, 4);
}

TEST(Merge, CountsThatDisagreeFailTheCaseWithBothValues) {
  const Results merged =
      merge({process({{"launches", exact(4)}}), process({{"launches", exact(5)}})});
  EXPECT_EQ(only_case(merged).status, "failed");
  EXPECT_THAT(*only_case(merged).reason,
              HasSubstr("optimized launches is 4 in process 1 and 5 in process 2"));
}

TEST(Merge, CodeThatDiffersBetweenProcessesFailsTheCase) {
  const Results merged = merge({process({}, "sha256:aa"), process({}, "sha256:bb")});
  EXPECT_EQ(only_case(merged).status, "failed");
  EXPECT_THAT(*only_case(merged).reason,
              HasSubstr("identity is sha256:aa in process 1 and sha256:bb"));
}

TEST(Merge, AMetricThatOneProcessLacksFailsTheCase) {
  const Results merged = merge({process({{"launches", exact(4)}}), process({})});
  EXPECT_EQ(only_case(merged).status, "failed");
  EXPECT_THAT(*only_case(merged).reason,
              HasSubstr("optimized launches is measured by 1 of 2 processes"));
}

TEST(Merge, AdvisoryMetricsTakeTheMedian) {
  const auto advisory = [](double value) {
    return process({{"compile_s", {.kind = "advisory", .value = value}}});
  };
  EXPECT_EQ(metric(merge({advisory(1), advisory(9), advisory(2)}), "compile_s").value, 2);
}

TEST(Merge, AMetricThatNoProcessCouldGiveKeepsItsReason) {
  const Metric denied{.kind = "advisory", .reason = "CUPTI needs permission"};
  const Results merged =
      merge({process({{"idle_fraction", denied}}), process({{"idle_fraction", denied}})});
  EXPECT_EQ(metric(merged, "idle_fraction").reason, "CUPTI needs permission");
  EXPECT_EQ(only_case(merged).status, "ok");
}

TEST(Merge, OneFailedCheckFailsTheCaseAndTheWorstErrorCounts) {
  Results bad = process({});
  bad.cases[0].status = "failed";
  bad.cases[0].reason = "error 0.5";
  bad.cases[0].check = {.status = "failed", .error = 0.5, .limit = 1e-12};
  const Results merged = merge({process({}), bad, process({})});
  EXPECT_EQ(only_case(merged).status, "failed");
  EXPECT_EQ(only_case(merged).reason, "error 0.5");
  EXPECT_EQ(only_case(merged).check.status, "failed");
  EXPECT_EQ(only_case(merged).check.error, 0.5);
}

TEST(Merge, DeviceCodeFromElsewhereInAnyProcessIsToldOfAll) {
  std::vector<Results> processes = {process({}), process({}), process({})};
  processes[1].run.sources = "/elsewhere";
  processes[2].run.git_dirty = true;
  const Results merged = merge(processes);
  EXPECT_EQ(merged.run.sources, "/elsewhere");
  EXPECT_TRUE(merged.run.git_dirty);
}

TEST(Merge, ProcessesOnDifferentDevicesAreInvalid) {
  Results other = process({});
  other.env.fingerprint = "g";
  EXPECT_FALSE(merge({process({}), other}).quality.valid);
}

TEST(Merge, WhatAnyProcessSawOfTheMachineIsToldOfAll) {
  std::vector<Results> processes = {process({}), process({}), process({})};
  processes[0].quality.load = 1;
  processes[1].quality = {.valid = false, .reasons = {"slow"}, .load = 9, .throttled = false};
  processes[2].quality.throttled = true;
  const Quality quality = merge(processes).quality;
  EXPECT_FALSE(quality.valid);
  EXPECT_THAT(quality.reasons, ElementsAre("slow"));
  EXPECT_EQ(quality.load, 9);
  EXPECT_EQ(quality.throttled, true);
  std::swap(processes[0], processes[1]);
  EXPECT_FALSE(merge(processes).quality.valid);
}

TEST(Merge, ACaseThatOneProcessWasNotAskedForIsOfTheOthers) {
  Results other = process({{"time_s", time_of(7)}});
  other.cases[0].id = "suite/other/f64";
  const Results merged = merge({process({{"time_s", time_of(3)}}), other});
  ASSERT_EQ(merged.cases.size(), 2u);
  EXPECT_THAT(metric(merged, "time_s").processes, ElementsAre(3));
  EXPECT_EQ(merged.cases[1].id, "suite/other/f64");
}

TEST(Merge, ACaseThatNoProcessHasCanBeCompleted) {
  Results empty = process({});
  empty.cases.clear();
  Results merged = merge({empty});
  complete(merged, {{.id = "suite/case/f64", .tier = "gate"}}, "missing", "because");
  EXPECT_EQ(only_case(merged).status, "missing");
  EXPECT_EQ(only_case(merged).reason, "because");
}

Results waiting(double seconds, double waited) {
  Results results = process({{"time_s", time_of(seconds)}, {"launches", exact(4)}});
  results.cases[0].metrics["waited_fraction"] = {.kind = "advisory", .value = waited};
  return results;
}

TEST(Merge, TimesOfProcessesWhoseThreadsWaitedAreLeftOut) {
  const Results merged =
      merge({waiting(3, 0), waiting(100, 0.5), waiting(1, 0.01), waiting(50, 0.05)});
  EXPECT_THAT(metric(merged, "time_s").processes, ElementsAre(3, 1));
}

// Values of one round are compared as a pair.
TEST(Merge, ARoundThatEitherSideOfABaseAndAHeadLeavesOutIsLeftOutOfBothWhileFiveRemain) {
  std::vector<Results> head, base;
  for (int round = 1; round <= 7; ++round) {
    head.push_back(waiting(round, round == 2 ? 0.5 : 0));
    base.push_back(waiting(10 * round, round == 3 ? 0.5 : 0));
  }
  EXPECT_THAT(metric(merge(head, base), "time_s").processes, ElementsAre(1, 4, 5, 6, 7));
  EXPECT_THAT(metric(merge(base, head), "time_s").processes, ElementsAre(10, 40, 50, 60, 70));
  head.pop_back();
  EXPECT_THAT(metric(merge(head, base), "time_s").processes, ElementsAre(1, 3, 4, 5, 6))
      << "not in pairs";
  base.pop_back();
  EXPECT_THAT(metric(merge(head, base), "time_s").processes, ElementsAre(1, 3, 4, 5, 6))
      << "four rounds are too few";
}

// Equal builds on a machine that slows down by 5 % from round to round: each side loses two rounds,
// and no five are whole.
TEST(Merge, SidesThatKeepOtherRoundsAreHeldAgainstEachOtherByTheirMiddles) {
  std::vector<Results> head, base;
  for (int round = 0; round < 8; ++round) {
    const double seconds = std::pow(1.05, round);
    head.push_back(waiting(seconds, round < 2 ? 0.5 : 0));
    base.push_back(waiting(seconds, round < 6 ? 0 : 0.5));
  }
  const auto measured = [](const Results& merged) {
    const std::vector<NamedMetric> all =
        named_metrics(parse_results(Document("a file", canonical(to_json(merged)))).cases.at(0));
    return *find_measured(all, "optimized", "time_s")->measured;
  };
  const Measured now = measured(merge(head, base)), before = measured(merge(base, head));
  ASSERT_EQ(now.values.size(), before.values.size());
  const Standard standard{.kind = "time", .better = Better::lower, .tolerance = 0.03};
  EXPECT_EQ(judge_beside(standard, now, before).verdict, verdict::noisy);
  for (Results& process : head) process.cases[0].metrics["waited_fraction"].value = 0;
  EXPECT_FALSE(measured(merge(head, base)).of_other_rounds) << "six whole rounds";
  EXPECT_FALSE(measured(merge(head)).of_other_rounds) << "nothing beside it";
}

TEST(Merge, TimesOfWaitingThreadsAloneAreNoProcesss) {
  const Results merged = merge({waiting(3, 0.3), waiting(100, 0.5), waiting(1, 0.4)});
  EXPECT_EQ(metric(merged, "time_s").median, 3);
  EXPECT_TRUE(metric(merged, "time_s").processes.empty());
  EXPECT_EQ(metric(merged, "launches").value, 4);
}

// A case with a bound on one reading over another, one on seconds and one on what no clock tells.
Results bounded(double value, double waited = 0) {
  Results results = waiting(1, waited);
  const Metric bound{.kind = "bound", .value = value};
  results.cases[0].derived["grad_over_forward"] = bound;
  for (const char* name : {"save_max_s", "rss_cv"}) results.cases[0].metrics[name] = bound;
  return results;
}

TEST(Merge, BoundsOnWhatIsMadeOfTimesKeepOneNumberPerProcess) {
  const CaseResult merged = only_case(merge({bounded(3), bounded(1), bounded(9, 0.5), bounded(5)}));
  for (const Metric& kept :
       {merged.derived.at("grad_over_forward"), merged.metrics.at("save_max_s")}) {
    EXPECT_THAT(kept.processes, ElementsAre(3, 1, 5)) << "the third was disturbed";
    EXPECT_EQ(kept.median, 3);
    EXPECT_EQ(kept.value, std::nullopt);
    EXPECT_EQ(kept.kind, "bound");
  }
  EXPECT_EQ(merged.metrics.at("rss_cv").value, 4);
}

TEST(Merge, ReadingsThatDifferAreKeptOfEachProcess) {
  const auto reading = [](double value) {
    return process({{"mass_drift", {.kind = "bound", .value = value}}});
  };
  EXPECT_THAT(metric(merge({reading(1), reading(50), reading(1)}), "mass_drift").processes,
              ElementsAre(1, 50, 1));
  EXPECT_THAT(metric(merge({reading(1), reading(1)}), "mass_drift").processes, testing::IsEmpty());
}

TEST(Merge, AReadingThatOneProcessLacksIsLackedByTheRun) {
  Results blank = process({});
  blank.cases[0].variants["optimized"].metrics["mass_drift"] = {.kind = "bound",
                                                                .reason = "nobody looked"};
  const Results whole = process({{"mass_drift", {.kind = "bound", .value = 1}}});
  for (const auto& processes : {std::vector{whole, whole, blank}, {blank, whole, whole}}) {
    const Metric merged = metric(merge(processes), "mass_drift");
    EXPECT_EQ(merged.value, std::nullopt);
    EXPECT_EQ(merged.reason, "nobody looked");
  }
}

TEST(Merge, AResultThatOneProcessDidNotVerifyIsNotVerified) {
  const Results whole = process({{"time_s", time_of(1)}});
  Results unverified = whole, untouched = whole, wrong = whole;
  unverified.cases[0].check.status = "not_executed";
  untouched.cases[0].executed = false;
  wrong.cases[0].check.status = "failed";
  EXPECT_EQ(only_case(merge({whole, whole, unverified})).check.status, "not_executed");
  EXPECT_EQ(only_case(merge({unverified, wrong, whole})).check.status, "failed");
  EXPECT_FALSE(only_case(merge({whole, untouched})).executed);
  EXPECT_EQ(only_case(merge({whole, whole})).check.status, "passed");
}

TEST(Merge, OfADeviceThatExecutesNothingSecondsAreOfOneCompiler) {
  Results dry = bounded(3);
  dry.cases[0].executed = false;
  const Metric kept = only_case(merge({dry})).metrics.at("save_max_s");
  EXPECT_EQ(kept.value, 3);
  EXPECT_TRUE(kept.processes.empty());
}

TEST(Merge, TimesOnSharedCoresAreLeftOutWhereFiveOthersRemain) {
  std::vector<Results> processes(6, waiting(1, 0));
  processes[2] = waiting(7, 0);
  processes[2].cases[0].metrics["shared_fraction"] = {.kind = "advisory", .value = 1};
  for (std::size_t i : {0, 1, 3, 4, 5})
    processes[i].cases[0].metrics["shared_fraction"] = {.kind = "advisory", .value = 0};
  const Results merged = merge(processes);
  EXPECT_THAT(metric(merged, "time_s").processes, ElementsAre(1, 1, 1, 1, 1));
  EXPECT_EQ(only_case(merged).metrics.at("shared_fraction").value, 0);
}

// Processes whose processors stood so far apart, with this time each.
std::vector<Results> apart(std::size_t count, double handover_seconds, double seconds) {
  std::vector<Results> processes(count, waiting(seconds, 0));
  for (Results& process : processes)
    process.cases[0].metrics["handover_s"] = {
        .kind = "time", .value = handover_seconds, .median = handover_seconds};
  return processes;
}

TEST(Merge, OfTwoBuildsInTurnThoseProcessesCountWhoseProcessorsStoodAlike) {
  std::vector<Results> base = apart(6, 370e-9, 2);
  const std::vector<Results> near = apart(5, 55e-9, 1);
  base.insert(base.end(), near.begin(), near.end());
  EXPECT_THAT(metric(merge(base), "time_s").processes, ElementsAre(2, 2, 2, 2, 2, 2));
  EXPECT_THAT(metric(merge(base, apart(11, 55e-9, 1)), "time_s").processes,
              ElementsAre(1, 1, 1, 1, 1));
}

const List list{
    .suite = "suite",
    .cases = {
        {.id = "suite/a/n:8/f64", .tier = "smoke", .devices = {{"host", {}}, {"cuda-dry", {}}}},
        {.id = "suite/b/n:16/f64", .tier = "gate", .devices = {{"host", {}}}},
        {.id = "suite/c/n:8/f64", .tier = "full", .devices = {{"host", {}}}}}};

std::vector<std::string> ids(const std::string& device, const std::string& tier,
                             const std::optional<std::string>& filter = std::nullopt) {
  std::vector<std::string> out;
  for (const ListedCase& listed : expected_cases(list, device, tier, filter))
    out.push_back(listed.id);
  return out;
}

TEST(ExpectedCases, ATierHoldsTheTiersBelowIt) {
  EXPECT_THAT(ids("host", "gate"), ElementsAre("suite/a/n:8/f64", "suite/b/n:16/f64"));
}

TEST(ExpectedCases, TheArchitectureOfADeviceDoesNotMatter) {
  EXPECT_THAT(ids("cuda-dry:sm_90", "full"), ElementsAre("suite/a/n:8/f64"));
}

TEST(ExpectedCases, AFilterChoosesAndWithAMinusLeavesOut) {
  EXPECT_THAT(ids("host", "full", "n:8"), ElementsAre("suite/a/n:8/f64", "suite/c/n:8/f64"));
  EXPECT_THAT(ids("host", "full", "-n:8"), ElementsAre("suite/b/n:16/f64"));
}

TEST(ExpectedCases, AMalformedFilterIsShown) {
  EXPECT_THAT([] { (void)ids("host", "full", "("); },
              ThrowsMessage<Error>(HasSubstr("--filter=( is not a regular expression")));
}

}  // namespace
}  // namespace holdfast::gate
