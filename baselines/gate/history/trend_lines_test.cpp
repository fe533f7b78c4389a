// SPDX-License-Identifier: Apache-2.0
#include "gate/history/trend_lines.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>

#include "gate/base/process.hpp"
#include "gate/documents/baseline_files.hpp"

namespace holdfast::gate {
namespace {

using testing::SizeIs;

// `counts` launches at one level after the other.
HistoryLines lines_of(const std::vector<std::pair<int, double>>& levels,
                      const std::string& fingerprint = "f") {
  HistoryLines lines;
  for (const auto& [count, level] : levels)
    for (int i = 0; i < count; ++i) {
      const auto order = static_cast<std::int32_t>(lines.size()) + 1;
      lines.push_back({.utc = "2026-11-21T12:00:00Z",
                       .commit = text("c", order),
                       .order = order,
                       .device_class = "host",
                       .fingerprint = fingerprint,
                       .case_id = "toy/step/f64",
                       .variant = "optimized",
                       .metric = "launches",
                       .value = level});
    }
  return lines;
}

TEST(Trend, AChangeNamesTheFirstCommitOfTheNewLevel) {
  const auto lines = lines_of({{10, 100}, {10, 104}});
  const auto series = find_trends(lines, {});
  ASSERT_THAT(series, SizeIs(1));
  ASSERT_THAT(series[0].changes, SizeIs(1));
  EXPECT_EQ(series[0].changes[0].line->commit, "c11");
  EXPECT_NEAR(series[0].changes[0].change, 0.04, 1e-12);
  EXPECT_FALSE(series[0].drift);
}

TEST(Trend, SmallChangesAddUpToADrift) {
  const auto lines = lines_of({{10, 100}, {10, 103}, {10, 106}});
  const auto series = find_trends(lines, {});
  ASSERT_TRUE(series[0].drift);
  EXPECT_NEAR(series[0].drift->change, 0.06, 1e-12);
}

TEST(Trend, WhatIsNotValidIsAnOutlierAndNoLevel) {
  auto lines = lines_of({{10, 100}, {5, 150}});
  for (std::size_t i = 10; i < 15; ++i) lines[i].unsound = true;
  const TrendSeries series = find_trends(lines, {}).front();
  EXPECT_THAT(series.changes, SizeIs(0));
  EXPECT_FALSE(series.drift);
  EXPECT_THAT(series.segments, SizeIs(1));
  EXPECT_EQ(std::ranges::count(series.points, true, &TrendPoint::outlier), 5);
  for (HistoryLine& line : lines) line.unsound = true;
  EXPECT_THAT(find_trends(lines, {}).front().changes, SizeIs(1)) << "there is nothing better";
}

TEST(Trend, DriftCountsFromTheLastAcceptedBaseline) {
  auto lines = lines_of({{10, 100}, {10, 103}, {10, 106}});
  lines[15].verdict = "ACCEPTED";
  EXPECT_FALSE(find_trends(lines, {})[0].drift);
}

TEST(Trend, DriftCountsFromTheAnchorThatIsAskedFor) {
  auto lines = lines_of({{10, 100}, {10, 103}, {10, 106}});
  lines[15].verdict = "ACCEPTED";
  EXPECT_TRUE(find_trends(lines, {.anchor = "c5"})[0].drift);
}

// A day to a commit.
HistoryLines daily(const std::vector<std::pair<int, double>>& levels) {
  HistoryLines lines = lines_of(levels);
  for (HistoryLine& line : lines)
    line.utc = text("2026-11-", line.order < 10 ? "0" : "", line.order, "T12:00:00Z");
  return lines;
}

TrendOptions held_to(const Accepted& accepted) {
  return {.accepted = [=](const HistoryLine&) { return std::optional(accepted); }};
}

TEST(Trend, WhatTheBaselineAcceptedIsNoDriftWhateverTheVerdictsSay) {
  auto lines = daily({{6, 28}, {6, 35}});
  for (HistoryLine& line : lines) line.verdict = "PASS";
  EXPECT_TRUE(find_trends(lines, {})[0].drift);
  EXPECT_FALSE(find_trends(lines, held_to({"2026-11-06T13:00:00Z", 35}))[0].drift);
  EXPECT_FALSE(find_trends(lines, held_to({"2026-11-30T12:00:00Z", 35}))[0].drift) << "not yet run";
  EXPECT_TRUE(find_trends(lines, held_to({"2026-10-30T12:00:00Z", 28}))[0].drift);
}

TEST(Trend, RunsBetweenAnAcceptanceAndItsMergeAreNotTheLevelThatWasAccepted) {
  const auto lines = daily({{6, 28}, {6, 35}});
  EXPECT_FALSE(find_trends(lines, held_to({"2026-11-04T13:00:00Z", 35}))[0].drift);
}

TEST(Trend, SmallChangesSinceAnAcceptanceAddUpToADriftFromThere) {
  const auto lines = daily({{5, 28}, {5, 35}, {5, 36.4}, {5, 37.9}});
  const auto drift = find_trends(lines, held_to({"2026-11-05T13:00:00Z", 35}))[0].drift;
  ASSERT_TRUE(drift);
  EXPECT_EQ(drift->since->commit, "c6");
  EXPECT_EQ(drift->anchor, 35);
}

TEST(Trend, TheAnchorThatIsAskedForCountsWhateverWasAcceptedSince) {
  TrendOptions options = held_to({"2026-11-09T13:00:00Z", 35});
  options.anchor = "c2";
  const auto lines = daily({{6, 28}, {6, 35}});
  ASSERT_TRUE(find_trends(lines, options)[0].drift);
  EXPECT_EQ(find_trends(lines, options)[0].drift->anchor, 28);
}

TEST(Trend, DriftCountsFromTheAcceptedValueAndNotFromALevelNearIt) {
  const auto drift_of = [](const std::vector<std::pair<int, double>>& levels,
                           const Accepted& accepted) {
    const auto drift = find_trends(daily(levels), held_to(accepted))[0].drift;
    return drift ? drift->change : 0;
  };
  EXPECT_NEAR(drift_of({{5, 35}, {6, 36.5}, {6, 38}}, {"2026-11-05T13:00:00Z", 35}), 3 / 35.,
              1e-12);
  EXPECT_NEAR(drift_of({{5, 28}, {6, 36.5}, {6, 38}}, {"2026-11-03T13:00:00Z", 35}), 3 / 35.,
              1e-12);
  EXPECT_NEAR(drift_of({{6, 28}, {6, 38}}, {"2026-11-04T13:00:00Z", 40.5}), -2.5 / 40.5, 1e-12);
  EXPECT_EQ(drift_of({{6, 28}, {6, 35}}, {"2026-11-09T13:00:00Z", 28}), 0)
      << "nothing was run since that could show it";
}

TEST(Trend, WhatWasAcceptedIsReadByCaseAndProcessor) {
  const TemporaryFolder folder("trend-lines-test");
  const auto entry = [](double value, const char* utc) {
    return Entry{.value = value, .accepted = {.utc = utc, .content = "sha256:c0", .why = "first"}};
  };
  Baseline baseline{
      .device_class = "host",
      .entries = {{"toy/step/f64|optimized|launches", entry(28, "2026-11-01T12:00:00Z")}}};
  for (const auto& [processor, seconds] :
       {std::pair("A kept awake", 2.), std::pair("A kept awake apart", 3.),
        std::pair("B kept awake", 2.5)}) {
    Entry& one = baseline.processors[processor]["toy/step/f64|optimized|time_s"];
    one = entry(seconds, "2026-11-02T12:00:00Z");
    one.medians = {seconds};
  }
  baseline.metrics = {{"launches", {.kind = "exact"}}, {"time_s", {.kind = "time", .unit = "s"}}};
  std::filesystem::create_directories(folder.path() / "devices/host");
  write_file(folder.path() / baseline_file("host", "toy"), baseline_text(baseline));
  HistoryLine line = lines_of({{1, 28}}).front();
  const AcceptedOf accepted = accepted_in(folder.path(), Aliases());
  EXPECT_EQ(accepted(line).value_or(Accepted{}).value, 28);
  line.metric = "time_s";
  line.processor = "A kept awake";
  for (const auto& [level, state] : {std::pair(1.8, 2.), std::pair(2.4, 2.), std::pair(2.6, 3.)}) {
    line.value = level;
    EXPECT_EQ(accepted(line).value_or(Accepted{}).value, state);
  }
  line.processor = "C";
  EXPECT_FALSE(accepted(line));
  line.device_class = "nvidia-h200";
  EXPECT_FALSE(accepted(line)) << "which has no file";
}

TEST(Trend, ADriftNamesTheCommitThatItCountsFrom) {
  auto lines = lines_of({{10, 100}, {10, 103}, {10, 106}});
  const auto since = [&](const TrendOptions& options) {
    return find_trends(lines, options)[0].drift->since->commit.text();
  };
  EXPECT_EQ(since({}), "c1");
  lines[4].verdict = "ACCEPTED";
  EXPECT_EQ(since({}), "c5");
  EXPECT_EQ(since({.anchor = "c7"}), "c7");
}

TEST(Trend, AnAnchorOnAnotherMachineIsNone) {
  auto lines = lines_of({{10, 100}, {10, 200}, {10, 220}});
  for (std::size_t i = 0; i < 10; ++i) lines[i].fingerprint = std::string("g");
  EXPECT_TRUE(find_trends(lines, {})[0].drift);
  EXPECT_FALSE(find_trends(lines, {.anchor = "c5"})[0].drift);
}

TEST(Trend, AnotherMachineIsNoChange) {
  auto lines = lines_of({{20, 100}});
  for (std::size_t i = 10; i < 20; ++i) {
    lines[i].fingerprint = std::string("g");
    lines[i].value = 200;
  }
  const auto series = find_trends(lines, {});
  ASSERT_THAT(series, SizeIs(1));
  EXPECT_THAT(series[0].changes, SizeIs(0));
  EXPECT_THAT(series[0].segments, SizeIs(2));
  EXPECT_FALSE(series[0].drift);
}

// Every second point is of the branch `named`, a tenth lower, from point `first` to `last`.
HistoryLines with_branch(std::size_t first, std::size_t last) {
  auto lines = lines_of({{40, 100}});
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const bool aside = first <= i && i <= last && (i - first) % 2 == 0;
    lines[i].branch = aside ? "tune" : "main";
    lines[i].value = (aside ? 90 : 100) + 0.1 * static_cast<double>(i % 3);
  }
  return lines;
}

TEST(Trend, ABranchBetweenTheCommitsOfAnotherChangesNoLevelOfIt) {
  const auto lines = with_branch(10, 26);
  const auto series = find_trends(lines, {});
  ASSERT_THAT(series, SizeIs(1));
  EXPECT_THAT(series[0].changes, SizeIs(0));
  EXPECT_THAT(series[0].segments, SizeIs(2)) << "each has its own level";
  EXPECT_FALSE(series[0].drift);
}

TEST(Trend, AChangeOnABranchNamesItsOwnCommitAndTheOneBeforeItThere) {
  auto lines = with_branch(10, 26);
  for (std::size_t i = 18; i <= 26; i += 2) lines[i].value *= 1.2;
  const auto series = find_trends(lines, {});
  ASSERT_THAT(series[0].changes, SizeIs(1));
  EXPECT_EQ(series[0].changes[0].line->commit, "c19");
  EXPECT_EQ(series[0].changes[0].last->commit, "c17");
  EXPECT_FALSE(series[0].drift) << "the newest commit is another branch's";
}

TEST(Trend, ABranchThatFollowsAnotherGoesOnWithItsLevel) {
  auto lines = lines_of({{10, 100}, {10, 110}});
  for (std::size_t i = 0; i < 20; ++i) lines[i].branch = i < 10 ? "master" : "main";
  const auto series = find_trends(lines, {});
  ASSERT_THAT(series[0].changes, SizeIs(1));
  EXPECT_EQ(series[0].changes[0].line->commit, "c11");
}

TEST(Trend, PointsOfNoKnownBranchAreTheLongestsOwn) {
  auto lines = with_branch(10, 26);
  for (HistoryLine& line : lines)
    if (line.branch.text() == "main" && line.order % 3 == 0) line.branch = "";
  EXPECT_THAT(find_trends(lines, {})[0].changes, SizeIs(0));
}

TEST(Trend, OneSeriesPerMetricThatMatches) {
  auto lines = lines_of({{4, 100}});
  lines[3].case_id = "toy/sum/f64";
  EXPECT_THAT(find_trends(lines, {}), SizeIs(2));
  EXPECT_THAT(find_trends(lines, {.match = "toy/sum/**"}), SizeIs(1));
  EXPECT_THAT(find_trends(lines, {.metric = "time_s"}), SizeIs(0));
  EXPECT_THAT(find_trends(lines, {.metric = "laun*"}), SizeIs(2));
  EXPECT_THAT(find_trends(lines, {.metric = "laun"}), SizeIs(0)) << "a whole name";
}

TEST(Trend, ItsJsonHasWhatThePageReads) {
  const auto lines = lines_of({{10, 100}, {10, 110}});
  const nlohmann::json series = to_json(find_trends(lines, {}).at(0));
  EXPECT_EQ(series.at("points").size(), 20u);
  EXPECT_EQ(series.at("segments").at(1),
            (nlohmann::json{{"from", 11}, {"to", 20}, {"median", 110.0}}));
  EXPECT_EQ(series.at("change_points").at(0).at("order"), 11);
  EXPECT_EQ(series.at("change_points").at(0).at("last_before"), "c10");
  EXPECT_NEAR(series.at("drift").at("change").get<double>(), 0.1, 1e-12);
}

TEST(Trend, RunsOfOneSecondAreTwoPointsAndOneRunIsNeverTwo) {
  auto lines = lines_of({{2, 100}});
  lines[1].commit = lines[0].commit;
  lines[1].order = lines[0].order;
  lines[0].run = std::string("2026-11-21T12:00:00Z-0001");
  lines[1].run = std::string("2026-11-21T12:00:00Z-0002");
  EXPECT_THAT(find_trends(lines, {}).front().points, SizeIs(2));
  lines[1].run = lines[0].run;
  EXPECT_THROW((void)find_trends(lines, {}), Error);
}

TEST(Trend, InBriefOnlyASeriesThatWasAlwaysTheSameIsToldByItsEnds) {
  auto still = lines_of({{20, 100}});
  for (HistoryLine& line : still) line.value = 100;  // without noise
  const auto points = [](const HistoryLines& lines, Told told) {
    return to_json(find_trends(lines, {}).at(0), told).at("points");
  };
  const nlohmann::json ends = points(still, Told::ends_of_still);
  ASSERT_THAT(ends, SizeIs(2));
  EXPECT_EQ(ends[0].at("order"), 1);
  EXPECT_EQ(ends[1].at("order"), 20);
  EXPECT_THAT(points(still, Told::all), SizeIs(20));
  still[7].value = 101;
  EXPECT_THAT(points(still, Told::ends_of_still), SizeIs(20)) << "it moved";
  still[7].value = 100;
  for (HistoryLine& line : still) line.verdict = std::string("PASS");
  still[0].verdict = std::string("NEW");
  still[7].verdict = std::string("WAIVED");
  const nlohmann::json told = points(still, Told::ends_of_still);
  std::vector<int> orders;
  for (const nlohmann::json& point : told) orders.push_back(point.at("order").get<int>());
  EXPECT_THAT(orders, testing::ElementsAre(1, 2, 8, 9, 20)) << "another verdict is news";
}

}  // namespace
}  // namespace holdfast::gate
