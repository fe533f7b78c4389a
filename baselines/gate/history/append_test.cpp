// SPDX-License-Identifier: Apache-2.0
#include "gate/history/append.hpp"

#include <gmock/gmock.h>

#include <cstdlib>
#include <iostream>

#include "gate/base/git.hpp"
#include "gate/base/process.hpp"
#include "gate/documents/results_root.hpp"
#include "gate/documents/selftest.hpp"
#include "gate/history/series.hpp"
#include "gate/history/trend_lines.hpp"

namespace holdfast::gate {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;
using testing::ThrowsMessage;

std::string utc_of(int run) {
  return text("2026-", 1 + run / 28 < 10 ? "0" : "", 1 + run / 28, '-', run % 28 < 9 ? "0" : "",
              1 + run % 28, "T12:00:00Z");
}

// What a suite measures on a class: `timed` cases have two times, a speedup and a hand-over, all
// of them counts.
struct Shape {
  const char* device_class;
  int cases;
  int counts;
  bool timed;
};

// Times of five processes move in each run; in every tenth a count of one case does as well.
Results made_up(const Shape& shape, int suite, int run) {
  const std::string name = text("workload_", suite);
  Results made{.suite = name, .tier = "gate"};
  made.run = {.id = utc_of(run) + "-7f3a",
              .utc = utc_of(run),
              .content = "sha256:c0",
              .git_sha = text(1000000 + run, std::string(33, 'a'))};
  made.env = {.device_class = shape.device_class,
              .device_name = "host",
              .compiler = "g++ 12.2.0",
              .processor = "AuthenticAMD-26-2",
              .awake = true,
              .threads = 2,
              .fingerprint = "sha256:" + std::string(64, 'f')};
  const auto timed = [&](const char* kind, double value, int salt) {
    Metric metric{.kind = kind, .samples = 400};
    for (int i = 0; i < 5; ++i)
      metric.processes.push_back(value * (1 + 1e-4 * ((run * 37 + salt * 11 + i * 53) % 101)));
    metric.median = metric.processes[2];
    return metric;
  };
  for (int i = 0; i < shape.cases; ++i) {
    CaseResult result{.id = text(name, "/family_", i % 5, "/n:", 16 * (i + 1), "/threads:2/f64"),
                      .tier = "gate",
                      .executed = true};
    for (const char* variant : {"optimized", "reference"}) {
      Metrics& metrics = result.variants[variant].metrics;
      for (int count = 0; count < shape.counts; ++count)
        metrics[text("count_", count)] = {
            .kind = "exact", .value = 1000 * count + i + (run / 10 == i && count == 0 ? 1 : 0)};
      metrics["floor_fraction"] = {.kind = "advisory", .value = 0.3 + 1e-3 * run};
      if (shape.timed) metrics["time_s"] = timed("time", 6.1e-4 * (i + 1), i);
    }
    if (shape.timed) result.metrics["speedup"] = timed("ratio", 18.2, i);
    if (shape.timed) result.metrics["handover_s"] = timed("time", 5.5e-8, i);
    made.cases.push_back(result);
  }
  return made;
}

// The sizes of the suites as their baselines have them: 25 cases of 22 counts and variant dry, 8 on
// hosts, of which each is timed.
constexpr Shape shapes[] = {{"cuda-dry-sm_90", 25, 22, false},
                            {"host-x86_64-v4-2t", 22, 8, true},
                            {"cuda-sm_90-h100", 25, 22, true}};
constexpr int runs = 200;

// All five suites take 15 s, so that one of them stands for them but at night. One has to bear what
// they share: commit and environment.
const bool all_suites = std::getenv("HOLDFAST_CORPUS") != nullptr;
const int suites = all_suites ? 5 : 1;
const double most_bytes = all_suites ? 40e3 : 10e3;

class Appending : public testing::Test {
 protected:
  TemporaryFolder folder_{"append-test"};
  fs::path store_ = folder_.path() / "store";

  std::uintmax_t bytes() const {
    std::uintmax_t total = 0;
    for (const auto& entry : fs::recursive_directory_iterator(store_))
      if (entry.is_regular_file()) total += entry.file_size();
    return total;
  }
  // Adds a results root to a store, as `history append` does.
  static void add(HistoryWriter& writer, const Results& results) {
    MeasuredRun made = measured_run(results, {}, nullptr);
    made.run.commit.order = writer.order_of(made.run.commit.name);
    made.run.commit.subject = "Let a shear fit start again, so that what was timed can be seen";
    made.run.commit.branch = "main";
    made.run.commit.ci = "https://github.com/lab/holdfast/actions/runs/1234567890";
    ASSERT_FALSE(writer.has(results.env.device_class, made.run));
    writer.add(results.env.device_class, made.run, made.meanings);
  }
  void add(const Results& results) const {
    Store store(store_, Store::Use::writing);
    HistoryWriter writer(store);
    add(writer, results);
    writer.publish();
  }
};

TEST_F(Appending, ARunOfFiveSuitesOnThreeClassesTakesAtMostFortyKilobytes) {
  {
    Store store(store_, Store::Use::writing);
    HistoryWriter writer(store);
    for (int run = 0; run < runs; ++run)
      for (const Shape& shape : shapes)
        for (int suite = 0; suite < suites; ++suite) add(writer, made_up(shape, suite, run));
    writer.publish();
  }
  const double each = static_cast<double>(bytes()) / runs;
  std::cout << each / 1000 << " kB a run\n";
  EXPECT_LT(each, most_bytes);

  // And nothing is lost: the median of what was measured, to its six digits.
  std::size_t seen = 0;
  const auto lines = read_history(store_, [](const HistorySeries& series, const std::string&) {
    return series.case_id == "workload_0/family_2/n:48/threads:2/f64" &&
           series.variant == "optimized" &&
           (series.metric == "time_s" || series.metric == "count_0");
  });
  for (const HistoryLine& line : lines)
    for (const Shape& shape : shapes) {
      if (line.device_class != shape.device_class) continue;
      const Results was = made_up(shape, 0, static_cast<int>(line.order) - 1);
      const Metric& metric = was.cases[2].variants.at("optimized").metrics.at(line.metric);
      EXPECT_EQ(line.utc, was.run.utc);
      if (metric.kind == "exact") {
        EXPECT_EQ(line.value, metric.number());
      } else {
        std::vector<double> sorted = metric.processes;
        EXPECT_NEAR(line.value, median(sorted), 1e-5 * line.value);
        EXPECT_NEAR(*line.mad, median_absolute_deviation(sorted), 1.1e-4 * line.value);
      }
      ++seen;
    }
  EXPECT_EQ(seen, 5u * runs);
}

TEST_F(Appending, OnlyTheNewestSegmentsAreRead) {
  const Shape shape = {"host", 120, 2, true};
  {
    Store store(store_, Store::Use::writing);
    HistoryWriter writer(store);
    for (int run = 0; run < 80; ++run) add(writer, made_up(shape, 0, run));
    writer.publish();
  }
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(store_ / "host")) files.push_back(entry);
  std::sort(files.begin(), files.end());
  ASSERT_GT(files.size(), 1u) << "no second segment began";
  // A hole in place of the older one: reading it fails.
  const auto size = fs::file_size(files.front());
  fs::resize_file(files.front(), 0);
  fs::resize_file(files.front(), size);
  EXPECT_NO_THROW(add(made_up(shape, 0, 80)));
  EXPECT_THROW((void)read_history(store_), Error);
}

// Else the segment that it stands in would never be followed by another one.
TEST_F(Appending, ARunOfAWrongClockIsInASegmentApart) {
  const auto append = [&](const char* year, const char* device_class, int run) {
    Results made = made_up({device_class, 1, 1, false}, 0, run);
    made.run.utc.replace(0, 4, year);
    made.run.id = made.run.utc + "-7f3a";
    add(made);
  };
  append("2099", "first", 0);
  for (const char* device_class : {"first", "later"}) {
    append("2016", device_class, 0);
    append("2099", device_class, 1);
    append("2016", device_class, 1);
    append("2099", device_class, 2);
  }
  Store store(store_, Store::Use::writing);
  HistoryWriter writer(store);
  std::map<std::string, std::vector<std::size_t>> runs;  // of each file, by class
  for (const HistoryFile& file : history_files(store)) {
    std::size_t& count = runs[file.device_class].emplace_back();
    for_each_run(file, [&](const HistoryRun& run, const HistoryMeanings&) {
      EXPECT_TRUE(writer.has(file.device_class, run)) << file.place << ' ' << run.utc;
      ++count;
    });
  }
  EXPECT_THAT(runs["first"], ElementsAre(2, 3));
  EXPECT_THAT(runs["later"], ElementsAre(2, 2));
}

TEST_F(Appending, RunsThatComeInLateHaveOrdersOfTheirOwn) {
  for (const int run : {3, 1, 2, 0}) add(made_up({"host", 1, 1, false}, 0, run));
  std::set<std::int64_t> orders;
  for (const HistoryLine& line : read_history(store_)) orders.insert(line.order);
  EXPECT_THAT(orders, SizeIs(4));
}

TEST_F(Appending, AdvisoryMetricsComeOnRequest) {
  const Results results = made_up({"host", 1, 1, true}, 0, 0);
  const auto has_advisory = [](const MeasuredRun& made) {
    return std::any_of(made.run.points.begin(), made.run.points.end(), [](const HistoryPoint& one) {
      return one.series->metric == "floor_fraction";
    });
  };
  EXPECT_FALSE(has_advisory(measured_run(results, {}, nullptr)));
  EXPECT_TRUE(has_advisory(measured_run(results, {}, nullptr, {.advisory = true})));
}

TEST_F(Appending, WhatARunWasMeasuredOnComesBackAsItWas) {
  const Results results = made_up({"host", 1, 1, true}, 0, 0);
  add(results);
  const Store store = open_history(store_);
  std::vector<nlohmann::json> environments;
  for (const HistoryFile& file : history_files(store))
    for_each_run(file, [&](const HistoryRun& run, const HistoryMeanings&) {
      environments.push_back(run.env);
    });
  EXPECT_THAT(environments, ElementsAre(to_json(results).at("env")));
}

TEST_F(Appending, AMetricThatARunLacksIsNotDrawnThereAndComesBackWithItsOwnValue) {
  Results results = made_up({"host", 2, 1, false}, 0, 0);
  add(results);
  Results lacking = made_up({"host", 2, 1, false}, 0, 1);
  lacking.cases[1].status = "failed";
  add(lacking);
  add(made_up({"host", 2, 1, false}, 0, 2));
  std::vector<std::int64_t> orders;
  for (const HistoryLine& line : read_history(store_))
    if (line.case_id == results.cases[1].id && line.variant == "optimized")
      orders.push_back(line.order);
  EXPECT_THAT(orders, ElementsAre(1, 3));
}

TEST(FiveNumbers, AreThoseOfFiveProcessesAndQuartilesOfMore) {
  const HistoryValue five = five_numbers({2.2, 1.8, 2, 2.1, 1.9});
  EXPECT_EQ(five.value, 2);
  EXPECT_THAT(five.offsets, ElementsAre(-1000, -500, 500, 1000));
  EXPECT_NEAR(*five.spread(), 0.1, 1e-12);
  EXPECT_EQ(five_numbers({3}).value, 3);
  EXPECT_THAT(five_numbers({1, 2, 3, 4, 5, 6, 7, 8, 9}).offsets,
              ElementsAre(-8000, -4000, 4000, 8000));
  EXPECT_THAT(five_numbers({0, 0}).offsets, SizeIs(0));
}

// A line of an older store.
std::string old_line(int order, const char* utc, double value, const char* mad,
                     const char* verdict) {
  return text(R"({"case": "toy/step/f64", "class": "host", "commit": "c)", order,
              R"(", "fp": "sha256:f0", "mad": )", mad, R"(, "metric": "time_s", "order": )", order,
              R"(, "utc": ")", utc, R"(", "value": )", value,
              R"(, "variant": "optimized", "verdict": )", verdict, "}\n");
}

TEST_F(Appending, AnOlderStoreIsReadAndThenRewrittenWithoutALoss) {
  fs::create_directories(store_ / "host");
  write_file(store_ / "host" / "2025.ndjson",
             old_line(1, "2025-12-31T12:00:00Z", 0.5, "0.01", "\"PASS\""));
  write_file(store_ / "host" / "2026.ndjson",
             old_line(2, "2026-01-01T12:00:00Z", 0.5, "0.01", "null") +
                 old_line(3, "2026-01-02T12:00:00Z", 0.25, "null", "\"ACCEPTED\""));
  const auto told = [&] {
    std::string out;
    for (const HistoryLine& one : read_history(store_))
      out +=
          text(one.commit, ' ', one.order, ' ', one.utc, ' ', one.value, ' ', one.mad.value_or(-1),
               ' ', one.verdict.value_or("none"), ' ', one.fingerprint, '\n');
    return out;
  };
  const std::string before = told();
  EXPECT_THAT(before, HasSubstr("c3 3 2026-01-02T12:00:00Z 0.25 -1 ACCEPTED sha256:f0\n"));
  EXPECT_EQ(rewrite_history(store_), 2u);
  EXPECT_FALSE(fs::exists(store_ / "host" / "2026.ndjson"));
  EXPECT_EQ(told(), before);
  EXPECT_EQ(rewrite_history(store_), 0u);
  add(made_up({"host", 1, 1, false}, 0, 100));
  EXPECT_EQ(read_history(store_).back().order, 4);
}

TEST_F(Appending, OfAnOlderStoreBothRunsAreKeptThatTwoMachinesBeganInTheSameSecond) {
  const std::string one = old_line(1, "2026-01-02T12:00:00Z", 0.5, "null", "null");
  std::string other = one;
  other.replace(other.find("sha256:f0"), 9, "sha256:f1");
  fs::create_directories(store_ / "host");
  write_file(store_ / "host" / "2026.ndjson", one + other);
  ASSERT_EQ(rewrite_history(store_), 1u);
  const HistoryLines lines = read_history(store_);
  ASSERT_THAT(lines, SizeIs(2));
  EXPECT_NE(lines[0].fingerprint, lines[1].fingerprint);
  EXPECT_NO_THROW((void)find_trends(lines, {}));
}

// Rewritten, it would be a segment that nobody can read.
TEST_F(Appending, AnOlderStoreOfWhichASegmentCannotTellIsLeftAsItIs) {
  const fs::path file = store_ / "host" / "2026.ndjson";
  fs::create_directories(file.parent_path());
  const std::string good = old_line(1, "2026-01-02T12:00:00Z", 0.5, "null", "\"PASS\"");
  const auto edited = [&](const std::string& from, const std::string& to) {
    std::string other = good;
    return other.replace(other.find(from), from.size(), to);
  };
  for (const std::string& bad : {good, edited("optimized", "a|b"), edited("toy/step", "/step")}) {
    write_file(file, good + bad);
    EXPECT_THAT([&] { rewrite_history(store_); }, ThrowsMessage<Error>(HasSubstr(".ndjson:2:")))
        << bad;
    EXPECT_EQ(read_file(file), good + bad);
  }
}

// The results of a night with a self-test of the same build beside them.
class AppendingSelfTests : public Appending {
 protected:
  const fs::path root_ = folder_.path() / "results";
  const fs::path file_ = root_ / "host" / "workload_0.selftest.json";
  Results results_ = made_up({"host", 1, 1, false}, 0, 0);
  SelfTest test_{.suite = "workload_0",
                 .device = "host",
                 .content = results_.run.content,
                 .utc = "2026-01-01T12:30:00Z",
                 .tolerance = 0.02,
                 .decisions = {{"workload_0/step/f64", "PASS"},
                               {"workload_0/step/f64", "REGRESSION"},
                               {"workload_0/step/f64", "NOISY"},
                               {"workload_0/step/f64", "NOISY"}},
                 .alarm_rate = {.value = 0.25, .lower = 0.0063, .upper = 0.8059}};

  void SetUp() override {
    fs::create_directories(root_ / "host");
    results_.run.git_sha = std::nullopt;
    write_file(root_ / "host" / "workload_0.json", canonical(to_json(results_)));
  }
  Appended append() const { return append_history(root_, store_); }
  void expect_refusal(const char* sentence) const {
    try {
      (void)append();
      ADD_FAILURE() << "it was appended";
    } catch (const Error& error) {
      EXPECT_EQ(error.fault(), Fault::bad_input);
      EXPECT_THAT(error.what(), testing::AllOf(HasSubstr(file_.string()), HasSubstr(sentence)));
    }
    EXPECT_FALSE(fs::exists(store_ / "host")) << "something was written";
  }
};

TEST_F(AppendingSelfTests, AreACaseOfTheRunThatTheyStandBeside) {
  write_file(file_, canonical(to_json(test_)));
  EXPECT_EQ(append().values, 2u + 4u);  // a count of each variant, and what the self-test told
  std::map<std::string, double> told;
  for (const HistoryLine& line : read_history(store_)) {
    EXPECT_EQ(line.utc, results_.run.utc);
    if (line.case_id == "workload_0/selftest") told[line.metric] = line.value;
  }
  EXPECT_THAT(
      told,
      ElementsAre(testing::Pair("alarm_rate", 0.25), testing::Pair("alarm_rate_lower", 0.0063),
                  testing::Pair("alarm_rate_upper", 0.8059), testing::Pair("undecided_rate", 0.5)));
  EXPECT_EQ(append().known, 1u);
}

TEST_F(AppendingSelfTests, AreOfOneOfTwoRunsThatBeganInTheSameSecond) {
  EXPECT_EQ(append().runs, 1u);
  results_.run.id += "1";
  write_file(root_ / "host" / "workload_0.json", canonical(to_json(results_)));
  write_file(file_, canonical(to_json(test_)));
  const Appended appended = append();
  EXPECT_EQ(appended.runs, 1u);
  EXPECT_EQ(appended.values, 2u + 4u);
  EXPECT_EQ(append().known, 1u);
}

TEST_F(AppendingSelfTests, OfAnotherBuildDeviceOrSuiteAreRefusedAndNothingIsWritten) {
  const auto expect_refused = [&](const SelfTest& test, const char* sentence) {
    write_file(file_, canonical(to_json(test)));
    expect_refusal(sentence);
  };
  SelfTest other = test_;
  other.content = "sha256:d1";
  expect_refused(other, "is of another build than the results beside it; remove it, or test again");
  other = test_;
  other.device = "cuda";
  expect_refused(other, "was made on the device 'cuda', and the results beside it on 'host'");
  other = test_;
  other.suite = "toy";
  for (SelfTest::Decision& one : other.decisions) one.case_id = "toy/step/f64";
  expect_refused(other, "holds a self-test of the suite 'toy', and its name says another");
  fs::remove(file_);
  const fs::path alone = root_ / "host" / "toy.selftest.json";
  write_file(alone, canonical(to_json(other)));
  EXPECT_THAT([&] { (void)append(); },
              ThrowsMessage<Error>(HasSubstr("there are no results of toy beside it")));
  EXPECT_FALSE(fs::exists(store_ / "host"));
}

TEST_F(AppendingSelfTests, ThatAreBrokenAreRefusedWithTheirPlaceAndNothingIsWritten) {
  write_file(file_, R"({"schema": "holdfast-selftest/1", "suite": "workload_0"})");
  expect_refusal(":1: ");
  const auto expect_refused = [&](const char* key, double value, const char* sentence) {
    nlohmann::json broken = to_json(test_);
    broken["alarm_rate"][key] = value;
    write_file(file_, canonical(broken));
    expect_refusal(sentence);
  };
  expect_refused("value", 0.5, "the rate is 0.5, and the decisions have 0.25");
  expect_refused("lower", 0.3, "the rate lies outside of its own interval");
  expect_refused("upper", 0.2, "the rate lies outside of its own interval");
  expect_refused("upper", 1.1, "a rate is 0 to 1");
}

TEST_F(AppendingSelfTests, AreNoResultsToThoseWhoReadThoseAlone) {
  write_file(file_, canonical(to_json(test_)));
  EXPECT_THAT(read_all_results(root_), SizeIs(1));
}

TEST_F(Appending, WhatAVerdictHeldAgainstNothingIsKeptWithItsPart) {
  using Caveats = std::vector<std::string>;
  const Caveats told = {"not all of the gate tier was measured",
                        "140 of 160 times and ratios not gated here"};
  const auto kept = [&](const char* verdict_of_row) {
    const Results results = made_up({"host", 1, 1, false}, 0, 0);
    const Row row{.case_id = results.cases.front().id,
                  .device_class = "host",
                  .variant = "optimized",
                  .metric = "count_0",
                  .verdict = verdict_of_row};
    const Verdict verdict{.rows = {row}, .caveats = told};
    return measured_run(results, {}, &verdict).run.verdict->caveats;
  };
  EXPECT_EQ(kept("NEW"), told);
  EXPECT_EQ(kept("ENV"), told);
  EXPECT_EQ(kept("PASS"), Caveats{told.front()});
}

// Else the verdict before it would stand as the newest.
TEST_F(Appending, ARunWhoseEveryCaseFailedKeepsItsVerdict) {
  Results results = made_up({"host", 1, 1, false}, 0, 0);
  CaseResult& lost = results.cases.front();
  lost = {.id = lost.id, .tier = lost.tier, .status = "crashed", .reason = "signal 11"};
  const fs::path root = folder_.path() / "results";
  fs::create_directories(root / "host");
  write_file(root / "host" / "workload_0.json", canonical(to_json(results)));
  EXPECT_EQ(append_history(root, store_).runs, 0u) << "nobody judged it";
  const Row row{.case_id = lost.id,
                .device_class = "host",
                .variant = "case",
                .metric = "",
                .verdict = "MISSING",
                .blocking = true};
  write_file(root / "verdict.json", canonical(to_json(Verdict{.exit = 3, .rows = {row}})));
  EXPECT_EQ(append_history(root, store_).runs, 1u);
  EXPECT_EQ(append_history(root, store_).known, 1u);
  const HistoryFile file = history_files(open_history(store_)).front();
  for_each_run(file, [&](const HistoryRun& one, const HistoryMeanings&) {
    EXPECT_EQ(one.verdict->blocking, 1);
    EXPECT_EQ(one.verdict->counts.at("MISSING"), 1);
  });
}

TEST_F(Appending, CaveatsAreReadAsTheyWereWrittenAndOfAnOlderBuildNotAtAll) {
  Store store(store_, Store::Use::writing);
  HistoryWriter writer(store);
  using Caveats = std::vector<std::string>;
  const std::vector<std::optional<Caveats>> judged = {Caveats{"not all was measured"}, Caveats(),
                                                      std::nullopt};
  for (std::size_t run = 0; run < judged.size(); ++run) {
    const Verdict verdict;
    MeasuredRun made =
        measured_run(made_up({"host", 1, 1, false}, 0, static_cast<int>(run)), {}, &verdict);
    made.run.verdict->caveats = judged[run];
    made.run.commit.order = writer.order_of(made.run.commit.name);
    writer.add("host", made.run, made.meanings);
  }
  writer.publish();
  std::vector<std::optional<Caveats>> kept;
  const HistoryFile file = history_files(store).front();
  for_each_run(file, [&](const HistoryRun& one, const HistoryMeanings&) {
    kept.push_back(one.verdict->caveats);
  });
  EXPECT_EQ(kept, judged);
}

TEST_F(Appending, ACommitIsToldWithItsSubjectTimeParentAndBranch) {
  const fs::path repository = folder_.path() / "repository";
  fs::create_directories(repository);
  const auto run = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"-c", "user.name=t", "-c", "user.email=t@t"});
    const Outcome outcome = git(repository, arguments);
    EXPECT_TRUE(succeeded(outcome)) << outcome.complaints;
    return outcome.output.substr(0, outcome.output.find('\n'));
  };
  run({"init", "-q", "-b", "trunk"});
  run({"commit", "-q", "--allow-empty", "-m", "First"});
  const std::string parent = run({"rev-parse", "HEAD"});
  run({"commit", "-q", "--allow-empty", "-m", "Say \"more\"\n\nand why",
       "--date=2026-11-21T13:30:00+01:00"});
  const std::string head = run({"rev-parse", "HEAD"});

  Results results = made_up({"host", 1, 1, false}, 0, 0);
  results.run.git_sha = head;
  fs::create_directories(folder_.path() / "results" / "host");
  write_file(folder_.path() / "results" / "host" / "workload_0.json", canonical(to_json(results)));
  const Appended appended =
      append_history(folder_.path() / "results", store_, {.repository = repository});
  EXPECT_THAT(appended.unknown_commits, SizeIs(0));
  const Store store = open_history(store_);
  for_each_run(history_files(store).front(), [&](const HistoryRun& one, const HistoryMeanings&) {
    EXPECT_EQ(one.commit.name, head);
    EXPECT_EQ(one.commit.subject, "Say \"more\"");
    EXPECT_EQ(one.commit.author_time, "2026-11-21T12:30:00Z");
    EXPECT_EQ(one.commit.parent, parent);
    EXPECT_EQ(one.commit.branch, "trunk");
  });
}

}  // namespace
}  // namespace holdfast::gate
