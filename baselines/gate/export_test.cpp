// SPDX-License-Identifier: Apache-2.0
// Exports hold against what their readers document: the fields that Google Benchmark's compare.py,
// Bencher's metric format and github-action-benchmark's custom format require, and no others.
#include "gate/export.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gate/gate_command.hpp"

namespace holdfast::gate {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

std::vector<StoredResults> host() {
  return {{.file = "toy.json", .results = toy::host()}};
}

TEST(Export, GoogleBenchmarkHasOneRowForEachProcessOfEachTimedVariant) {
  const nlohmann::json made = google_benchmark(host());
  EXPECT_TRUE(made["context"].is_object());
  ASSERT_THAT(made["benchmarks"], SizeIs(2 * 2 * 5));  // cases, variants, processes
  const nlohmann::json& row = made["benchmarks"][1];
  EXPECT_EQ(row["name"], "toy/step/n:64/f64/optimized");
  EXPECT_EQ(row["run_type"], "iteration");
  EXPECT_EQ(row["repetition_index"], 1);
  EXPECT_EQ(row["repetitions"], 5);
  EXPECT_EQ(row["time_unit"], "ns");
  EXPECT_NEAR(row["real_time"], 0.995 * 6e5, 1e-3);
  EXPECT_EQ(row["cpu_time"], row["real_time"]);
  EXPECT_EQ(row["peak_bytes"], 4096);
  EXPECT_EQ(row["label"], toy::step_id);
}

TEST(Export, GoogleBenchmarkHasNoRowWhereNothingWasTimed) {
  EXPECT_THAT(google_benchmark({{.file = "toy.json", .results = toy::dry()}})["benchmarks"],
              SizeIs(0));
}

TEST(Export, BencherHasALatencyInNanosecondsWithItsRange) {
  const nlohmann::json made = bencher_metrics(host());
  const nlohmann::json& latency = made["toy/step/n:64/f64/optimized"]["latency"];
  EXPECT_NEAR(latency["value"], 6e5, 1e-3);
  EXPECT_NEAR(latency["lower_value"], 0.99 * 6e5, 1e-3);
  EXPECT_NEAR(latency["upper_value"], 1.01 * 6e5, 1e-3);
  EXPECT_EQ(made["toy/step/n:64/f64/optimized"]["peak-bytes"], (nlohmann::json{{"value", 4096.0}}));
  EXPECT_EQ(made["toy/step/n:64/f64"]["speedup"]["value"], 10);
}

TEST(Export, NamesCarryTheClassWhereThereAreSeveral) {
  std::vector<StoredResults> both = host();
  both.push_back({.file = "toy.json", .results = toy::dry()});
  EXPECT_TRUE(bencher_metrics(both).contains("cuda-dry-sm_90/toy/step/n:64/f64/optimized"));
}

TEST(Export, ActionBenchmarkSeparatesWhatIsBetterWhenBigger) {
  const std::map<std::string, MetricRow> metrics = {
      {"time_s", {.kind = "time", .better = Better::lower, .unit = "s"}},
      {"speedup", {.kind = "ratio", .better = Better::higher, .unit = "1"}},
      {"identity", {.kind = "codegen", .better = Better::same, .unit = "1"}}};
  const nlohmann::json smaller = action_benchmark(host(), metrics, false);
  ASSERT_THAT(smaller, SizeIs(4));
  EXPECT_EQ(smaller[0]["name"], "toy/step/n:64/f64/optimized time_s");
  EXPECT_EQ(smaller[0]["unit"], "s");
  EXPECT_EQ(smaller[0]["value"], 6e-4);
  EXPECT_TRUE(smaller[0]["range"].is_string());
  EXPECT_TRUE(smaller[0]["extra"].is_string());
  const nlohmann::json bigger = action_benchmark(host(), metrics, true);
  ASSERT_THAT(bigger, SizeIs(2));
  EXPECT_EQ(bigger[0]["name"], "toy/step/n:64/f64 speedup");
}

TEST(Export, LeavesOutCasesThatAreNotWell) {
  std::vector<StoredResults> all = host();
  all[0].results.cases[0].status = "failed";
  EXPECT_THAT(google_benchmark(all)["benchmarks"], SizeIs(2 * 5));
}

TEST_F(GateCommand, ExportPrintsJsonForPrograms) {
  store(toy::host());
  for (const char* format : {"gbench", "bmf", "gha"}) {
    EXPECT_EQ(holdfast({"export", results_.string(), text("--format=", format),
                        "--baselines=" + baselines_.string()}),
              0)
        << complaints_;
    EXPECT_TRUE(nlohmann::json::accept(output_)) << format;
  }
  EXPECT_EQ(holdfast({"export", results_.string(), "--format=xml"}), 2);
  EXPECT_THAT(complaints_, HasSubstr("the formats are gbench, bmf, gha and junit"));
}

TEST_F(GateCommand, ExportPrintsTheVerdictAsJUnit) {
  store(toy::host());
  EXPECT_EQ(holdfast({"export", results_.string(), "--format=junit"}), 2);
  EXPECT_THAT(complaints_, HasSubstr("judge first: holdfast check"));
  ASSERT_EQ(check(), 0);
  EXPECT_EQ(holdfast({"export", results_.string(), "--format=junit"}), 0);
  EXPECT_EQ(output_, read_file(results_ / "verdict.xml"));
}

}  // namespace
}  // namespace holdfast::gate
