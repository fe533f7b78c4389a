// SPDX-License-Identifier: Apache-2.0
#include "gate/measure/profile_process.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "gate/base/json.hpp"
#include "gate/base/process.hpp"
#include "gate/documents/unrequested.hpp"

namespace holdfast::gate {
namespace {

namespace fs = std::filesystem;

Metric promised() {
  return {.kind = "advisory", .reason = "there is no such reading in this run"};
}

// Of a case whose optimized variant promises what a profile tells.
Results unprofiled() {
  Results results;
  CaseResult one;
  one.id = "toy/a/f64";
  one.variants["optimized"].metrics = {{"idle_fraction", promised()},
                                       {"max_gap_s", promised()},
                                       {"top_kernel_fraction", promised()},
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

TEST(Profiled, MetricsAreTakenFromTheProfileOfTheVariant) {
  Results results = unprofiled();
  add_profiled({profile("reference"), profile("optimized")}, results);
  EXPECT_EQ(profiled_metric(results, "idle_fraction").value, 0.25);
  EXPECT_EQ(profiled_metric(results, "max_gap_s").value, 1e-5);
  EXPECT_EQ(profiled_metric(results, "top_kernel_fraction").value, 0.5);
  EXPECT_FALSE(profiled_metric(results, "idle_fraction").reason);
  EXPECT_FALSE(profiled_metric(results, "time_s").value);
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
  for (const char* metric : {"idle_fraction", "max_gap_s", "top_kernel_fraction"})
    EXPECT_TRUE(is_unrequested(profiled_metric(results, metric).reason.value(), "--profile"));
  EXPECT_EQ(profiled_metric(results, "time_s").reason, promised().reason);
}

// A suite that prints a line a second, leaves the answers' folder that it was told, and profiles
// nothing.
TEST(Profiling, LastsAsLongAsLinesComeAndKnowsWhereAnswersAre) {
  const TemporaryFolder folder("profiling-test");
  const fs::path suite = folder.path() / "suite.sh", told = folder.path() / "told";
  std::ofstream(suite) << "#!/bin/sh\nfor i in 1 2 3 4 5; do sleep 1; echo line >&2; done\n"
                       << "echo $HOLDFAST_ANSWERS > " << told.string() << '\n';
  fs::permissions(suite, fs::perms::owner_all);
  Progress progress("suite");
  profile_suite({.binary = suite,
                 .device = "host",
                 .timeout_seconds = 4,
                 .answers = folder.path() / "answers",
                 .place = folder.path() / "profiles" / "suite"},
                progress);
  EXPECT_EQ(read_file(told), (folder.path() / "answers").string() + '\n');
}

}  // namespace
}  // namespace holdfast::gate
