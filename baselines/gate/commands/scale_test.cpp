// SPDX-License-Identifier: Apache-2.0
// The gate at the size of a fleet: 10 000 metrics, and a history of 1 000 runs. A check knows the
// history in two forms: the baseline keeps the medians of the last 20 accepted runs of each ratio
// and time, and of the store it reads the newest segments alone. So the store of the check has
// 2 GB, of which all but the newest segment is a hole: whoever reads into it fails. What reads the
// whole store streams it, and is measured on 1 000 runs of 1 000 metrics, each of them written.
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iostream>

#include "gate/accept/accept.hpp"
#include "gate/history/append.hpp"
#include "gate/history/series.hpp"
#include "gate/testing/gate_command.hpp"

namespace holdfast::gate {
namespace {

namespace fs = std::filesystem;

constexpr int fleet_cases = 500;
constexpr int suite_cases = 80;  // 1 600 metrics, as the largest suite has on a device
constexpr int metrics_per_case = 20;
constexpr int kept_runs = 20;
constexpr int recorded_runs = 1000;
constexpr int recorded_cases = 50;  // 1 000 metrics
constexpr int newest_runs = 45;     // more than a check looks at

// CPU time, which other work on the machine lengthens less than wall time.
constexpr double most_cpu_seconds = 5;  // three times what it took, for slower machines
constexpr double most_bytes = 300e6;
constexpr double most_cpu_seconds_of_a_suite = 0.5;  // twice the least that it took

struct Usage {
  int code = -1;
  double wall_s = 0, cpu_s = 0, peak_bytes = 0;
};

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

// The peak is at least that of this process, which the new one begins as.
Usage measure(std::vector<std::string> arguments, const fs::path& output) {
  arguments.insert(arguments.begin(), HOLDFAST_BINARY);
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  const auto start = std::chrono::steady_clock::now();
  const pid_t child = ::fork();
  if (child == 0) {
    if (!std::freopen(output.c_str(), "w", stdout)) ::_exit(126);
    ::execv(HOLDFAST_BINARY, pointers.data());
    ::_exit(126);
  }
  int status = 0;
  rusage used = {};
  ::wait4(child, &status, 0, &used);
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
  return {.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1,
          .wall_s = wall.count(),
          .cpu_s = seconds(used.ru_utime) + seconds(used.ru_stime),
          .peak_bytes = 1024.0 * static_cast<double>(used.ru_maxrss)};
}

void expect_within_limits(const char* what, const Usage& usage) {
  std::cout << what << ": " << usage.wall_s << " s, " << usage.cpu_s << " s of the processor, "
            << usage.peak_bytes / 1e6 << " MB\n";
  EXPECT_LT(usage.cpu_s, most_cpu_seconds) << what;
  EXPECT_LT(usage.peak_bytes, most_bytes) << what;
}

std::string case_id(int number) {
  return text("toy/step/n:", number, "/f64");
}

std::string day(int number) {
  std::array<char, 32> utc = {};
  (void)std::snprintf(utc.data(), utc.size(), "%d-%02d-%02dT12:00:00Z", 2023 + number / (12 * 28),
                      1 + number / 28 % 12, 1 + number % 28);
  return utc.data();
}

// Run `number` of `cases` cases with 20 metrics each: counts, times and a speedup.
Results run_of(int cases, int number) {
  Results made = toy::empty_results("host", "host-x86_64-v4-2t");
  made.run = {.id = text(day(number), "-", 1000 + number),
              .utc = day(number),
              .content = text("sha256:", 1000000 + number),
              .processes = 5};
  const double wobble = 1 + 0.002 * (number * 7 % 11 - 5);
  for (int i = 0; i < cases; ++i) {
    CaseResult& result =
        made.cases.emplace_back(CaseResult{.id = case_id(i), .tier = "gate", .executed = true});
    result.check = {.status = "passed", .error = 1e-15, .limit = 1e-12, .oracle = "golden"};
    for (const char* variant : {"optimized", "reference"}) {
      Metrics& metrics = result.variants[variant].metrics;
      metrics["time_s"] = toy::timed("time", 6e-4 * (i + 1) * wobble);
      for (int count = 0; count < 8; ++count)
        metrics[text("count_", count)] = toy::exact(1000 * count + i);
    }
    result.metrics["speedup"] = toy::timed("ratio", 10 * wobble);
    result.metrics["peak_ratio"] = toy::exact(2);
  }
  return made;
}

List list_of(int cases) {
  List list{.suite = "toy", .metrics = toy::metrics()};
  list.metrics["peak_ratio"] = {"exact", Better::higher};
  std::vector<std::string> metrics = {"peak_ratio", "speedup", "time_s"};
  for (int count = 0; count < 8; ++count) {
    metrics.push_back(text("count_", count));
    list.metrics[metrics.back()] = {"exact"};
  }
  for (int i = 0; i < cases; ++i)
    list.cases.push_back({.id = case_id(i),
                          .tier = "gate",
                          .reference = true,
                          .devices = {{"host", {metrics}}},
                          .limit = 1e-12});
  return list;
}

class Scale : public GateCommand {
 protected:
  void SetUp() override {
    GateCommand::SetUp();
    spoil(common_policy_, "\"metric\": \"launches\"", "\"metric\": \"count_0\"");
    spoil(common_policy_, "{\"max\": 64", "{\"max\": 64000");
  }

  void put(Results results, int cases) {
    const std::string content = canonical(to_json(list_of(cases)));
    results.list_hash = sha256(content);
    const fs::path path = result_path(results);
    fs::create_directories(path.parent_path());
    write_file(path, canonical(to_json(results)), Sync::no);
    write_file(path.parent_path() / "toy.list.json", content, Sync::no);
    write_file(lists_ / "toy.list.json", content, Sync::no);
    const nlohmann::json git = {{"dirty", false}, {"sha", nullptr}};
    write_file(lists_ / "content.json", canonical({{"content", results.run.content}, {"git", git}}),
               Sync::no);
  }

  Usage measured(const std::vector<std::string>& arguments) {
    return measure(arguments, folder_.path() / "output");
  }

  const fs::path store_ = folder_.path() / "history";

  // A store as 1 000 calls of `history append` leave it; a hole where the first `absent` runs are.
  void record_runs(int cases, int absent = 0) {
    {
      Store store(store_, Store::Use::writing);
      HistoryWriter writer(store);
      for (int number = absent; number < recorded_runs; ++number) {
        MeasuredRun made = measured_run(run_of(cases, number), {}, nullptr);
        made.run.commit.order = number + 1;
        writer.add("host-x86_64-v4-2t", made.run, made.meanings);
      }
      writer.publish();
    }
    if (absent == 0) return;
    const fs::path hole = store_ / segment_place("host-x86_64-v4-2t", day(0));
    std::ofstream(hole, std::ios::binary).close();
    fs::resize_file(hole, std::uintmax_t{2} << 30);
  }
};

static_assert(newest_runs * fleet_cases * metrics_per_case > newest_values);

class FleetHistory : public Scale {};

class FleetCheck : public Scale {
 protected:
  std::vector<std::string> check_ = {
      "check", results_.string(), "--baselines=" + baselines_.string(),
      "--lists=" + lists_.string(), "--store=" + (folder_.path() / "history").string()};

  // Makes the baseline as after `runs` calls of `baseline accept`; beyond 20, older ones are
  // dropped.
  void accept_runs(int runs, int cases) {
    const Policy policy =
        Policy::read(common_policy_.parent_path(), today_utc()).with(list_of(cases).metrics);
    std::optional<Baseline> kept;
    for (int number = 0; number < runs; ++number)
      kept = gate::accept(run_of(cases, number), kept, policy, {.why = "as measured"}).baseline;
    EXPECT_EQ(count_entries(*kept), cases * metrics_per_case);
    EXPECT_EQ(kept->processors.at(toy::processor).at(case_id(0) + "|case|speedup").medians.size(),
              kept_runs);
    const fs::path path = baseline(run_of(1, 0));
    fs::create_directories(path.parent_path());
    write_file(path, baseline_text(*kept), Sync::no);
  }
};

TEST_F(FleetCheck, OfTenThousandMetricsTakesSecondsAndLittleMemory) {
  accept_runs(kept_runs + 2, fleet_cases);
  record_runs(fleet_cases, recorded_runs - newest_runs);
  Results now = run_of(fleet_cases, recorded_runs);
  put(now, fleet_cases);
  const Usage well = measured(check_);
  EXPECT_EQ(well.code, 0) << read_file(folder_.path() / "output").substr(0, 2000);
  expect_within_limits("check of 10 000 metrics that pass", well);
  EXPECT_EQ(verdict().rows.size(), fleet_cases * metrics_per_case);

  // Other tools than those of all runs in the store: none is comparable, however far one looks
  // back. A faster run asks for them.
  Results other = now;
  other.env.fingerprint = "sha256:f1";
  for (CaseResult& result : other.cases) result.metrics["speedup"] = toy::timed("ratio", 20);
  put(other, fleet_cases);
  const Usage alone = measured(check_);
  EXPECT_EQ(alone.code, 0) << read_file(folder_.path() / "output").substr(0, 2000);
  expect_within_limits("check of 10 000 metrics that no run is comparable with", alone);
  EXPECT_THAT(verdict().rows, testing::Contains(testing::Field(&Row::verdict, "IMPROVED")));

  // Everything that may fail fails: evidence, the report and the patch have most to say.
  for (CaseResult& result : now.cases)
    for (auto& [name, metric] : result.variants["optimized"].metrics)
      if (metric.kind == "exact") metric.value = *metric.value + 1;
  put(now, fleet_cases);
  const Usage worse = measured(check_);
  EXPECT_EQ(worse.code, 1);
  expect_within_limits("check of 10 000 metrics of which 4 000 fail", worse);
}

TEST_F(FleetCheck, OfOneSuiteTakesNobodysPatience) {
  accept_runs(kept_runs, suite_cases);
  put(run_of(suite_cases, recorded_runs), suite_cases);
  check_.pop_back();  // no store
  double least = most_cpu_seconds;
  for (int attempt = 0; attempt < 5; ++attempt) {  // what shares a core takes half of it
    const Usage usage = measured(check_);
    EXPECT_EQ(usage.code, 0) << read_file(folder_.path() / "output").substr(0, 2000);
    expect_within_limits("check of 1 600 metrics that pass", usage);
    least = std::min(least, usage.cpu_s);
  }
  EXPECT_LT(least, most_cpu_seconds_of_a_suite);
}

TEST_F(FleetHistory, OfAThousandRunsIsAppendedToAndReadQuickly) {
  record_runs(recorded_cases);
  put(run_of(recorded_cases, recorded_runs), recorded_cases);
  const Usage append =
      measured({"history", "append", results_.string(), "--store=" + store_.string()});
  EXPECT_EQ(append.code, 0);
  expect_within_limits("append of a run to 1 000 runs of 1 000 metrics", append);
  const Usage trend =
      measured({"trend", "--store=" + store_.string(), "--case=toy/step/n:4*/f64", "--json"});
  EXPECT_EQ(trend.code, 0);
  expect_within_limits("trend of eleven cases among 1 000 runs of 1 000 metrics", trend);
}

}  // namespace
}  // namespace holdfast::gate
