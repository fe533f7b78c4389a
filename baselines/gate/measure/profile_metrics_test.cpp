// SPDX-License-Identifier: Apache-2.0
#include "gate/measure/profile_metrics.hpp"

#include <gtest/gtest.h>

#include <set>

#include "gate/base/process.hpp"
#include "gate/documents/list.hpp"
#include "gate/documents/unrequested.hpp"

namespace holdfast::gate {
namespace {

Metric promised() {
  return {.kind = "advisory", .reason = "there is no such reading in this run"};
}

// Results of a case whose optimized variant promises metrics of a profile.
Results unprofiled() {
  Results results;
  CaseResult one;
  one.id = "toy/a/f64";
  one.variants["optimized"].metrics = {{"idle_fraction", promised()},
                                       {"max_gap_s", promised()},
                                       {"top_kernel_fraction", promised()},
                                       {"kernels_s", promised()},
                                       {"kernels_floor_fraction", promised()},
                                       {"top5_time_fraction", promised()},
                                       {"small_kernel_time_fraction", promised()},
                                       {"transfer_time_fraction", promised()},
                                       {"ops_over_10ms", promised()},
                                       {"time_s", promised()}};
  results.cases = {one};
  return results;
}

Profile profile(const std::string& variant) {
  Profile made{.suite = "toy", .case_id = "toy/a/f64", .variant = variant};
  made.overview.idle_fraction = 0.25;
  made.overview.max_gap_s = 1e-5;
  made.ops = {{.name = "stage", .kind = "fused", .fraction = 0.5},
              {.name = "edge", .kind = "scatter", .fraction = 0.2},
              {.name = "memcpy", .kind = "copy", .fraction = 0.7}};
  return made;
}

const Metric& profiled_metric(const Results& results, const std::string& name) {
  return results.cases.at(0).variants.at("optimized").metrics.at(name);
}

TEST(Profiled, MetricsAreNotTakenFromTheProfileOfAnotherVariant) {
  Results results = unprofiled();
  add_profiled({profile("reference")}, results);
  EXPECT_FALSE(profiled_metric(results, "idle_fraction").value);
}

TEST(Profiled, AKernelIsOneWhateverTheShapesOfItsLaunches) {
  Results results = unprofiled();
  Profile made = profile("optimized");
  made.ops[1].name = made.ops[0].name;
  add_profiled({made}, results);
  EXPECT_EQ(profiled_metric(results, "top_kernel_fraction").value, 0.7);
}

TEST(Profiled, MetricsAreTakenFromTheProfileOfTheVariant) {
  Results results = unprofiled();
  add_profiled({profile("reference"), profile("optimized")}, results);
  EXPECT_EQ(profiled_metric(results, "idle_fraction").value, 0.25);
  EXPECT_EQ(profiled_metric(results, "max_gap_s").value, 1e-5);
  EXPECT_EQ(profiled_metric(results, "top_kernel_fraction").value, 0.5);
  EXPECT_FALSE(profiled_metric(results, "idle_fraction").reason);
  EXPECT_FALSE(profiled_metric(results, "time_s").value);
}

TEST(Profiled, NothingIsReadFromAProfileThatLostActivities) {
  Results results = unprofiled();
  Profile lossy = profile("optimized");
  lossy.dropped = 12;
  add_profiled({lossy}, results);
  for (const auto& [name, metric] : results.cases.at(0).variants.at("optimized").metrics) {
    EXPECT_FALSE(metric.value) << name;
    if (name == "time_s") continue;
    EXPECT_EQ(metric.reason, "the profile lost 12 activities; profile fewer steps") << name;
  }
}

ProfileOp timed(const char* kind, std::int64_t count, double total) {
  return {
      .kind = kind, .count = count, .total_s = total, .mean_s = total / static_cast<double>(count)};
}

// Two steps of 14 ms of kernels, of which 4 ms are of small ones, and 2 ms of transfers.
Profile timed_profile() {
  Profile made = profile("optimized");
  made.steps = 2;
  made.floor_s = 9e-3;  // of latency
  made.kernels_floor_s = 7e-3;
  made.ops = {timed("fused", 2, 12e-3),   timed("gemm", 4, 8e-3), timed("upload", 2, 3e-3),
              timed("scatter", 80, 5e-3), timed("fill", 1, 2e-3), timed("fused", 100, 3e-3),
              timed("download", 2, 1e-3), {.kind = "reduce"}};
  return made;
}

TEST(Profiled, KernelSecondsAreOfAStepAndOfKernelsAlone) {
  Results results = unprofiled();
  add_profiled({timed_profile()}, results);
  EXPECT_DOUBLE_EQ(profiled_metric(results, "kernels_s").value.value(), 14e-3);
  EXPECT_DOUBLE_EQ(profiled_metric(results, "kernels_floor_fraction").value.value(), 0.5);
}

TEST(Profiled, OperationsAreSlowWhereACallTakesMoreThanTenMilliseconds) {
  Results results = unprofiled();
  Profile made = profile("optimized");
  add_profiled({made}, results);
  EXPECT_FALSE(profiled_metric(results, "ops_over_10ms").value) << "the device told no times";
  made.ops[0].max_s = 9.9e-3;
  made.ops[1].max_s = 10.1e-3;
  add_profiled({made}, results);
  EXPECT_EQ(profiled_metric(results, "ops_over_10ms").value, 1);
}

TEST(Profiled, SharesAreOfAllThatTheDeviceDid) {
  Results results = unprofiled();
  add_profiled({timed_profile()}, results);
  EXPECT_DOUBLE_EQ(profiled_metric(results, "top5_time_fraction").value.value(), 31. / 34);
  EXPECT_DOUBLE_EQ(profiled_metric(results, "small_kernel_time_fraction").value.value(), 8. / 34);
  EXPECT_DOUBLE_EQ(profiled_metric(results, "transfer_time_fraction").value.value(), 4. / 34);
}

TEST(Profiled, WithoutDeviceTimesNoSecondsAreMadeUp) {
  Results results = unprofiled();
  add_profiled({profile("optimized")}, results);
  for (const char* metric : {"kernels_s", "kernels_floor_fraction", "top5_time_fraction",
                             "small_kernel_time_fraction", "transfer_time_fraction"})
    EXPECT_FALSE(profiled_metric(results, metric).value) << metric;
}

TEST(Profiled, WhatAProfileDoesNotTellHasItsReason) {
  Results results = unprofiled();
  Profile silent = profile("optimized");
  silent.overview.idle_fraction.reset();
  silent.silence = "CUPTI may not look";
  add_profiled({silent}, results);
  EXPECT_FALSE(profiled_metric(results, "idle_fraction").value);
  EXPECT_EQ(profiled_metric(results, "idle_fraction").reason, "CUPTI may not look");
}

TEST(Profiled, ACaseWithoutAProfileStaysAsItIs) {
  Results results = unprofiled();
  add_profiled({}, results);
  EXPECT_EQ(profiled_metric(results, "idle_fraction").reason, promised().reason);
}

TEST(Profiled, ARunWithoutAProfileSaysThatNobodyAskedForIt) {
  Results results = unprofiled();
  leave_unprofiled(results);
  for (const char* metric : {"kernels_s", "idle_fraction", "max_gap_s", "transfer_time_fraction"})
    EXPECT_TRUE(is_unrequested(profiled_metric(results, metric).reason.value(), "--profile"));
  EXPECT_EQ(profiled_metric(results, "time_s").reason, promised().reason);
}

using Names = std::set<std::string>;

// The metrics that every suite lists, whether or not one of its cases has them.
Names listed_by_suites() {
  const Outcome listed = run_task(
      {.program = COUNTED_SUITE_BINARY, .arguments = {"--list=json"}, .timeout_seconds = 60});
  EXPECT_EQ(listed.code, 0) << listed.complaints;
  Names names;
  for (const auto& [name, meaning] : parse_list(Document("the list", listed.output)).metrics)
    names.insert(name);
  return names;
}

Names asked_for_with_profile() {
  const Document common =
      Document::open(std::filesystem::path(HOLDFAST_POLICY) / "common.json", Comments::allowed);
  Names names;
  for (const auto& [name, row] : common.root().object().take("metrics").object().rest())
    if (const auto option = row.object().optional("on_request");
        option && option->string() == "--profile")
      names.insert(name);
  return names;
}

// Of `names`, those that a profile is asked for.
Names told_by_profiles(const Names& names) {
  Results results = unprofiled();
  std::map<std::string, Metric>& metrics = results.cases.front().variants["optimized"].metrics;
  metrics.clear();
  for (const std::string& name : names) metrics[name] = promised();
  leave_unprofiled(results);
  std::erase_if(metrics, [](const auto& one) { return one.second.reason != not_asked_for; });
  Names told;
  for (const auto& [name, metric] : metrics) told.insert(name);
  return told;
}

TEST(Profiled, MetricsBearOneNameInListsInThePolicyAndWhereAProfileIsRead) {
  EXPECT_EQ(told_by_profiles(listed_by_suites()), asked_for_with_profile());
}

}  // namespace
}  // namespace holdfast::gate
