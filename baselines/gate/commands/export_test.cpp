// SPDX-License-Identifier: Apache-2.0
// Exports hold against what their readers document: the fields that Google Benchmark's compare.py,
// Bencher's metric format and github-action-benchmark's custom format require, and no others.
#include "gate/commands/export.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <regex>
#include <set>

#include "gate/testing/gate_command.hpp"

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
  const Meanings metrics = {{"time_s", {.kind = "time", .better = Better::lower, .unit = "s"}},
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

// Reads exports of the real command.
class Exported : public GateCommand {
 protected:
  nlohmann::json exported(const std::string& format, const std::vector<std::string>& more = {}) {
    store(toy::host());
    store(toy::dry());
    EXPECT_EQ(holdfast(toy::joined({"export", results_.string(), "--format=" + format}, more)), 0)
        << complaints_;
    return nlohmann::json::parse(output_);
  }
};

TEST_F(Exported, SaysWhichCasesAreLeftOut) {
  Results crashed = toy::host();
  crashed.cases[0].status = "crashed";
  crashed.cases[0].reason = "SIGSEGV";
  store(crashed);
  for (const char* format : {"gbench", "bmf", "gha"})
    expect_complaint(holdfast({"export", results_.string(), text("--format=", format)}), 0,
                     HasSubstr("warning: left out 1 case without a result: toy/step/n:64/f64 on "
                               "host-x86_64-v4-2t (crashed)\n"));
}

// compare.py groups rows by name and unit, tests repetitions of one name against each other, scales
// by time_unit, and takes what is no field of its own for a counter, which is a number.
TEST_F(Exported, GoogleBenchmarkRowsHaveWhatItsToolsRead) {
  const nlohmann::json made = exported("gbench");
  EXPECT_TRUE(made["context"]["date"].is_string());
  EXPECT_TRUE(made["context"]["num_cpus"].is_number_integer());
  std::map<std::string, std::set<int>> repetitions;
  for (const nlohmann::json& row : made["benchmarks"]) {
    EXPECT_EQ(row["run_type"], "iteration") << "aggregates are computed by their readers";
    EXPECT_EQ(row["time_unit"], "ns");
    EXPECT_TRUE(row["iterations"].is_number_integer());
    EXPECT_GT(row["real_time"].get<double>(), 0);
    EXPECT_GT(row["cpu_time"].get<double>(), 0);
    EXPECT_LT(row["repetition_index"].get<int>(), row["repetitions"].get<int>());
    EXPECT_TRUE(repetitions[row["name"]].insert(row["repetition_index"].get<int>()).second);
    const std::set<std::string> words = {"name", "run_name", "run_type", "time_unit", "label"};
    for (const auto& [field, value] : row.items())
      EXPECT_EQ(value.is_string(), words.contains(field)) << field;
  }
  for (const auto& [name, indices] : repetitions) EXPECT_THAT(indices, SizeIs(5)) << name;
}

// Bencher's metric format: benchmark -> measure (a slug) -> value, and bounds around it.
TEST_F(Exported, BencherHasSlugsAndBoundsAroundEachValue) {
  const std::regex slug("[a-z0-9]+(-[a-z0-9]+)*");
  const nlohmann::json made = exported("bmf");
  EXPECT_FALSE(made.empty());
  for (const auto& [benchmark, measures] : made.items()) {
    EXPECT_LE(benchmark.size(), 1024u);
    for (const auto& [measure, value] : measures.items()) {
      EXPECT_TRUE(std::regex_match(measure, slug)) << measure;
      for (const auto& [field, number] : value.items()) {
        EXPECT_TRUE(field == "value" || field == "lower_value" || field == "upper_value") << field;
        EXPECT_TRUE(number.is_number());
      }
      EXPECT_LE(value.value("lower_value", value["value"].get<double>()), value["value"]);
      EXPECT_GE(value.value("upper_value", value["value"].get<double>()), value["value"]);
    }
  }
}

// customSmallerIsBetter and customBiggerIsBetter: a list of name, unit and value, with an optional
// range and extra; a name stands for a series, so it is there once.
TEST_F(Exported, ActionBenchmarkHasEachNameOnceWithItsUnit) {
  std::set<std::string> names;
  for (const std::vector<std::string>& more : {std::vector<std::string>{}, {"--bigger"}}) {
    const nlohmann::json made = exported("gha", more);
    ASSERT_TRUE(made.is_array());
    EXPECT_FALSE(made.empty());
    for (const nlohmann::json& one : made) {
      EXPECT_TRUE(one["name"].is_string() && one["unit"].is_string());
      EXPECT_TRUE(one["value"].is_number());
      EXPECT_TRUE(names.insert(one["name"].get<std::string>()).second) << one["name"];
      for (const auto& [field, value] : one.items())
        EXPECT_TRUE(field == "value" || value.is_string()) << field;
    }
  }
}

TEST_F(GateCommand, ExportPrintsJsonForPrograms) {
  store(toy::host());
  for (const char* format : {"gbench", "bmf", "gha"}) {
    EXPECT_EQ(holdfast({"export", results_.string(), text("--format=", format)}), 0) << complaints_;
    EXPECT_TRUE(nlohmann::json::accept(output_)) << format;
  }
  expect_complaint(holdfast({"export", results_.string(), "--format=xml"}), 2,
                   HasSubstr("the formats are gbench, bmf, gha, otava and junit"));
  expect_complaint(holdfast({"export", results_.string()}), 2,
                   HasSubstr("holdfast export needs --format=FORMAT"));
}

TEST_F(GateCommand, AnExportWithoutATimeSaysWhyItIsEmpty) {
  store(toy::dry());
  EXPECT_EQ(holdfast({"export", results_.string(), "--format=gbench"}), 0);
  EXPECT_THAT(nlohmann::json::parse(output_)["benchmarks"], SizeIs(0));
  EXPECT_THAT(complaints_, HasSubstr("cuda-dry-sm_90 executes nothing; --format=bmf"));
}

TEST_F(Exported, OnlyTheMetricsThatAreWishedFor) {
  const nlohmann::json made = exported("bmf", {"--metric=speedup", "--metric=launches"});
  std::set<std::string> measures;
  for (const auto& [benchmark, values] : made.items())
    for (const auto& [measure, value] : values.items()) measures.insert(measure);
  EXPECT_EQ(measures, (std::set<std::string>{"launches", "speedup"}));
  expect_complaint(holdfast({"export", results_.string(), "--format=bmf", "--metric=lanches"}), 2,
                   HasSubstr("has the metric lanches"));
}

TEST_F(GateCommand, AnExportHasWhatIsDerivedFromSeveralVariantsAndFindsItByItsName) {
  Results now = toy::host();
  now.cases.front().derived["f64_over_f32"] = {.kind = "advisory", .value = 2.5};
  store(now);
  const nlohmann::json derived = {{"value", 2.5}};
  ASSERT_EQ(holdfast({"export", results_.string(), "--format=bmf"}), 0) << complaints_;
  EXPECT_EQ(nlohmann::json::parse(output_)["toy/step/n:64/f64"]["f64-over-f32"], derived);
  ASSERT_EQ(holdfast({"export", results_.string(), "--format=bmf", "--metric=f64_over_f32"}), 0)
      << complaints_;
  EXPECT_EQ(nlohmann::json::parse(output_),
            (nlohmann::json{{"toy/step/n:64/f64", {{"f64-over-f32", derived}}}}));
  ASSERT_EQ(holdfast({"export", results_.string(), "--format=bmf", "--metric=speedup"}), 0);
  EXPECT_FALSE(nlohmann::json::parse(output_)["toy/step/n:64/f64"].contains("f64-over-f32"));
}

TEST_F(GateCommand, AnExportOfWhatChangedFollowsTheVerdict) {
  accepted(toy::dry());
  store(toy::dry(), "optimized", "launches", toy::exact(5));
  expect_complaint(holdfast({"export", results_.string(), "--format=bmf", "--changed-only"}), 2,
                   HasSubstr("judge first: holdfast check"));
  ASSERT_EQ(check(), 1);
  ASSERT_EQ(holdfast({"export", results_.string(), "--format=bmf", "--changed-only"}), 0);
  EXPECT_EQ(nlohmann::json::parse(output_),
            (nlohmann::json{{"toy/step/n:64/f64/optimized", {{"launches", {{"value", 5.0}}}}}}));
}

// Otava's CSV importer wants a time and a number in every cell of the columns that otava.yaml
// names.
TEST_F(GateCommand, AHistoryIsExportedAsTablesOfOtava) {
  const std::string history = (folder_.path() / "history").string();
  const std::filesystem::path out = folder_.path() / "otava #1: new";  // which YAML would cut
  for (const auto& [day, launches] : {std::pair(21, 4), std::pair(22, 5)}) {
    Results now = toy::dry();
    now.run.utc = text("2026-11-", day, "T12:00:00Z");
    now.run.content = text("sha256:", day);
    store(now, "optimized", "launches", toy::exact(launches));
    ASSERT_EQ(holdfast({"history", "append", results_.string(), "--store=" + history}), 0)
        << complaints_;
  }
  ASSERT_EQ(
      holdfast({"export", history, "--format=otava", "--metric=launches", "--out=" + out.string()}),
      0)
      << complaints_;
  const std::string name = "cuda-dry-sm_90.toy-step-n-64-f64.optimized";
  EXPECT_EQ(read_file(out / (name + ".csv")),
            "time,commit,launches\n2026-11-21T12:00:00Z,\"sha256:21\",4.0\n"
            "2026-11-22T12:00:00Z,\"sha256:22\",5.0\n");
  EXPECT_THAT(read_file(out / "otava.yaml"),
              HasSubstr(text("  ", name, ":\n    type: csv\n    file: \"",
                             (out / (name + ".csv")).string(), "\"\n")));
  expect_complaint(holdfast({"export", history, "--format=otava"}), 2,
                   HasSubstr("needs --out=DIR"));
}

// Exports of a history that a test writes run by run.
class ExportedHistory : public GateCommand {
 protected:
  const std::string history_ = (folder_.path() / "history").string();
  const std::filesystem::path out_ = folder_.path() / "otava";

  // Appends a run on a day, measured by tools of that fingerprint.
  void append(Results now, int day, const std::string& fingerprint = "sha256:f0",
              const std::string& number = "0001") {
    now.run.utc = text("2026-11-", day, "T12:00:00Z");
    now.run.id = text(now.run.utc, '-', number);
    now.run.content = text("sha256:", day);
    now.env.fingerprint = fingerprint;
    const std::filesystem::path results = folder_.path() / text("day-", day);
    std::filesystem::create_directories(results / now.env.device_class);
    write_file(results / now.env.device_class / (now.suite + ".json"), canonical(to_json(now)));
    ASSERT_EQ(holdfast({"history", "append", results.string(), "--store=" + history_}), 0)
        << complaints_;
  }
  int to_otava() {
    return holdfast({"export", history_, "--format=otava", "--out=" + out_.string(),
                     "--metric=launches", "--baselines=" + baselines_.string()});
  }
  std::string table(const std::string& case_name) const {
    return read_file(out_ / ("cuda-dry-sm_90." + case_name + ".optimized.csv"));
  }
};

TEST_F(ExportedHistory, EachSuiteHasTheNewestToolsOfItsOwn) {
  Results other = toy::dry();
  other.suite = "other";
  for (CaseResult& result : other.cases) result.id = "other" + result.id.substr(3);
  append(toy::dry(), 20, "sha256:old");
  append(toy::dry(), 21, "sha256:f0");
  append(other, 22, "sha256:f1");
  expect_output(to_otava(), 0,
                HasSubstr(": 8 tests for otava, of the newest machine and tools of each suite and "
                          "class; left out 4 tests of others\n"));
  EXPECT_EQ(table("toy-step-n-64-f64"),
            "time,commit,launches\n2026-11-21T12:00:00Z,\"sha256:21\",4.0\n");
  EXPECT_EQ(table("other-step-n-64-f64"),
            "time,commit,launches\n2026-11-22T12:00:00Z,\"sha256:22\",4.0\n");
}

TEST_F(ExportedHistory, RunsThatBeganInTheSameSecondAreRowsOfTheirOwn) {
  Results other = toy::dry();
  toy::metric(other, "optimized", "launches") = toy::exact(5);
  append(toy::dry(), 21, "sha256:f0", "0001");
  append(other, 21, "sha256:f0", "0002");
  ASSERT_EQ(to_otava(), 0) << complaints_;
  EXPECT_EQ(table("toy-step-n-64-f64"),
            "time,commit,launches\n2026-11-21T12:00:00Z,\"sha256:21\",4.0\n"
            "2026-11-21T12:00:00Z,\"sha256:21\",5.0\n");
}

TEST_F(ExportedHistory, CasesWhoseNamesDifferInMarksAloneHaveATableEach) {
  Results now = toy::dry();
  now.cases[1].id = "toy/step-n/64/f64";
  append(now, 21);
  ASSERT_EQ(to_otava(), 0) << complaints_;
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(out_))
    files += entry.path().filename().string().starts_with("cuda-dry-sm_90.toy-step-n-64-f64.optim");
  EXPECT_EQ(files, 2u);
}

TEST_F(ExportedHistory, ARenamedCaseIsOneTableUnderItsPresentName) {
  Results before = toy::dry();
  before.cases.front().id = "toy/old/n:64/f64";
  append(before, 21);
  append(toy::dry(), 22);
  aliases(R"("toy/old/n:64/f64": "toy/step/n:64/f64")");
  ASSERT_EQ(to_otava(), 0) << complaints_;
  EXPECT_EQ(table("toy-step-n-64-f64"),
            "time,commit,launches\n2026-11-21T12:00:00Z,\"sha256:21\",4.0\n"
            "2026-11-22T12:00:00Z,\"sha256:22\",4.0\n");
  EXPECT_FALSE(std::filesystem::exists(out_ / "cuda-dry-sm_90.toy-old-n-64-f64.optimized.csv"));
}

TEST_F(GateCommand, AFolderWithoutHistoryIsNotExported) {
  const std::filesystem::path out = folder_.path() / "otava";
  const auto exported = [&] {
    return holdfast({"export", results_.string(), "--format=otava", "--out=" + out.string()});
  };
  expect_complaint(exported(), 2, HasSubstr("holds no history; begin a history with"));
  store(toy::dry());
  expect_complaint(exported(), 2, HasSubstr("holds no history"));
  EXPECT_FALSE(std::filesystem::exists(out));
}

TEST_F(GateCommand, AHistoryIsExportedToNoFileAndOfNoUnknownMetric) {
  store(toy::dry());
  const std::string history = (folder_.path() / "history").string();
  ASSERT_EQ(holdfast({"history", "append", results_.string(), "--store=" + history}), 0)
      << complaints_;
  const std::string file = common_policy_.string();
  expect_complaint(holdfast({"export", history, "--format=otava", "--out=" + file}), 2,
                   "holdfast: cannot write to --out=" + file +
                       ": Not a directory; name a folder that you may write to\n");
  expect_complaint(holdfast({"export", history, "--format=otava", "--metric=no",
                             "--out=" + (folder_.path() / "otava").string()}),
                   2, HasSubstr("has the metric no"));
}

TEST_F(GateCommand, OnlyAnExportThatWritesFilesTakesAFolder) {
  store(toy::dry());
  for (const std::string format : {"gbench", "bmf", "gha", "junit"})
    expect_complaint(
        holdfast({"export", results_.string(), "--format=" + format, "--out=x"}), 2,
        HasSubstr("--out is for --format=otava; what --format=" + format + " prints, redirect"));
}

TEST_F(GateCommand, AnExportRefusesWhatItsFormatWouldIgnore) {
  store(toy::dry());
  const auto given = [&](const std::string& format, const std::string& option) {
    return holdfast({"export", results_.string(), "--format=" + format, option});
  };
  for (const char* format : {"gbench", "bmf", "otava", "junit"})
    expect_complaint(given(format, "--bigger"), 2, HasSubstr("--bigger is for --format=gha"));
  for (const char* format : {"gbench", "bmf", "gha", "junit"})
    expect_complaint(given(format, "--baselines=x"), 2,
                     HasSubstr("--baselines is for --format=otava"));
  expect_complaint(given("bmf", "--policy=x"), 2, HasSubstr("has no option --policy"));
  for (const char* option : {"--metric=launches", "--changed-only"})
    expect_complaint(given("junit", option), 2,
                     HasSubstr("--format=junit prints the whole verdict; leave out --"));
}

TEST_F(GateCommand, ATrendIsToldInTheMetricsUnit) {
  const std::string history = (folder_.path() / "history").string();
  store(toy::host(), "optimized", "peak_bytes", toy::exact(169086208));
  ASSERT_EQ(holdfast({"history", "append", results_.string(), "--store=" + history}), 0)
      << complaints_;
  const auto trend = [&](const std::string& metric) {
    return holdfast({"trend", "--store=" + history, "--case=toy/step/**", "--metric=" + metric,
                     "--baselines=" + baselines_.string()});
  };
  expect_output(trend("peak_bytes"), 0, HasSubstr(", now 169.1 MB\n"));
  expect_output(trend("time_s"), 0, HasSubstr(", now 600 us\n"));
}

TEST_F(GateCommand, ATrendOfNoCaseTellsHowCasesAreChosen) {
  const std::string history = (folder_.path() / "history").string();
  store(toy::host());
  ASSERT_EQ(holdfast({"history", "append", results_.string(), "--store=" + history}), 0)
      << complaints_;
  expect_complaint(holdfast({"trend", "--store=" + history, "--case=toy/*"}), 2,
                   HasSubstr("matches --case=toy/* (* within a part of the id, ** across)"));
}

// It is written a series at a time, and read so by the report.
TEST_F(GateCommand, ATrendAsJsonIsOneDocumentWithASeriesToALine) {
  const std::string history = (folder_.path() / "history").string();
  store(toy::host());
  ASSERT_EQ(holdfast({"history", "append", results_.string(), "--store=" + history}), 0)
      << complaints_;
  std::vector<std::string> asked = {"trend", "--store=" + history,
                                    "--baselines=" + baselines_.string(), "--json"};
  for (const bool with_points : {true, false}) {
    if (!with_points) asked.push_back("--no-points");
    ASSERT_EQ(holdfast(asked), 0) << complaints_;
    const auto told = nlohmann::json::parse(output_);
    EXPECT_EQ(told.at("schema"), "holdfast-trend/1");
    EXPECT_EQ(told.at("commits").size(), 1u);
    const auto lines = std::count(output_.begin(), output_.end(), '\n');
    EXPECT_EQ(lines, static_cast<std::ptrdiff_t>(told.at("series").size()) + 1);
    std::set<std::string> metrics;
    for (const auto& series : told.at("series")) {
      metrics.insert(series.at("metric"));
      EXPECT_EQ(series.contains("points"), with_points);
    }
    EXPECT_THAT(metrics, testing::IsSupersetOf({"time_s", "peak_bytes"}));
  }
}

TEST_F(GateCommand, ATrendTellsTheShareOfAChangeButNoShareOfNothing) {
  const std::string history = (folder_.path() / "history").string();
  for (int run = 10; run < 22; ++run) {
    Results now = toy::dry();
    now.run.utc = text("2026-11-", run, "T12:00:00Z");
    now.run.id = now.run.utc + "-0001";
    now.run.content = text("sha256:c", run);
    toy::metric(now, "optimized", "peak_bytes") = toy::exact(run < 16 ? 0 : 48);
    toy::metric(now, "optimized", "launches") = toy::exact(run < 16 ? 4 : 5);
    store(now);
    ASSERT_EQ(holdfast({"history", "append", results_.string(), "--store=" + history}), 0)
        << complaints_;
  }
  expect_output(holdfast({"trend", "--store=" + history, "--case=toy/step/**",
                          "--baselines=" + baselines_.string()}),
                0, AllOf(HasSubstr(": 0 B -> 48 B\n"), HasSubstr(": 4 -> 5  +25 %\n")));
}

TEST_F(GateCommand, ExportPrintsTheVerdictAsJUnit) {
  store(toy::host());
  expect_complaint(holdfast({"export", results_.string(), "--format=junit"}), 2,
                   HasSubstr("judge first: holdfast check"));
  ASSERT_EQ(check(), 0);
  EXPECT_EQ(holdfast({"export", results_.string(), "--format=junit"}), 0);
  EXPECT_EQ(output_, read_file(results_ / "verdict.xml"));
}

}  // namespace
}  // namespace holdfast::gate
