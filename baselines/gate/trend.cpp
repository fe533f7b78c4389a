// SPDX-License-Identifier: Apache-2.0
#include "gate/trend.hpp"

#include <algorithm>
#include <cmath>
#include <iostream>
#include <map>
#include <tuple>

#include "gate/aliases.hpp"
#include "gate/change_points.hpp"
#include "gate/decide.hpp"
#include "gate/policy.hpp"

namespace holdfast::gate {
namespace {

constexpr double largest_drift = 0.05;  // relative, beyond it is DRIFT

// One fingerprint's part of a series: indices of its points.
using Group = std::vector<std::size_t>;

// The position in `group` of the point that drift counts from.
std::size_t anchor_position(const TrendSeries& series, const Group& group,
                            const std::optional<std::string>& commit) {
  for (std::size_t i = group.size(); i-- > 0;) {
    const HistoryLine& line = *series.points[group[i]].line;
    if (commit ? line.commit.starts_with(*commit) : line.verdict == verdict::accepted) return i;
  }
  return 0;
}

void find_changes(TrendSeries& series, const Group& group, bool newest,
                  const std::optional<std::string>& anchor) {
  std::vector<double> values;
  for (const std::size_t i : group) values.push_back(series.points[i].line->value);
  const Segmentation found = segment(values);
  const auto line_at = [&](std::size_t position) { return series.points[group[position]].line; };
  for (std::size_t i = 0; i < group.size(); ++i)
    series.points[group[i]].outlier = found.outliers[i];
  for (std::size_t i = 0; i < found.segments.size(); ++i) {
    const Segment& part = found.segments[i];
    series.segments.push_back({line_at(part.first)->order, line_at(part.last)->order, part.median});
    if (i == 0) continue;
    const double before = found.segments[i - 1].median;
    series.changes.push_back(
        {line_at(part.first), before, part.median, relative_change(before, part.median)});
  }
  if (!newest) return;
  const std::size_t position = anchor_position(series, group, anchor);
  const auto held = std::find_if(found.segments.begin(), found.segments.end(),
                                 [&](const Segment& part) { return position <= part.last; });
  const double change = relative_change(held->median, found.segments.back().median);
  if (std::abs(change) > largest_drift)
    series.drift = {held->median, found.segments.back().median, change};
}

void analyse(TrendSeries& series, const std::optional<std::string>& anchor) {
  std::map<std::string, Group> groups;
  for (std::size_t i = 0; i < series.points.size(); ++i)
    groups[series.points[i].line->fingerprint].push_back(i);
  const std::string& newest = series.points.back().line->fingerprint;
  for (const auto& [fingerprint, group] : groups)
    find_changes(series, group, fingerprint == newest, anchor);
  std::sort(series.segments.begin(), series.segments.end(),
            [](const TrendSegment& a, const TrendSegment& b) {
              return std::tie(a.from, a.to) < std::tie(b.from, b.to);
            });
  std::sort(
      series.changes.begin(), series.changes.end(),
      [](const TrendChange& a, const TrendChange& b) { return a.line->order < b.line->order; });
}

// Lines come in the order of commits and times, so that a repeated one follows the first.
void refuse_twice(const HistoryLine& before, const HistoryLine& line) {
  if (before.order != line.order || before.utc != line.utc || before.commit != line.commit) return;
  throw Error(
      Fault::bad_input,
      text("the history holds ", line.metric, " of ", line.case_id, ' ', line.variant, " on ",
           line.device_class, " twice for the run of ", line.utc, "; remove one of the two lines"));
}

std::string short_commit(const std::string& commit) {
  const std::string hash =
      commit.starts_with("sha256:") ? commit.substr(std::string("sha256:").size()) : commit;
  return hash.substr(0, 10);
}

void print(const TrendSeries& series) {
  const HistoryLine& name = series.name();
  const HistoryLine& last = *series.points.back().line;
  std::cout << name.device_class << "  " << name.case_id << "  " << name.variant << "  "
            << name.metric << '\n'
            << "  " << plural(series.points.size(), "point") << ", commits " << name.order << " to "
            << last.order << ", now " << readable(last.value, "") << '\n';
  for (const TrendChange& change : series.changes)
    std::cout << "  change at commit " << change.line->order << " ("
              << short_commit(change.line->commit) << "): " << readable(change.before, "") << " -> "
              << readable(change.after, "") << "  " << percent(change.change) << '\n';
  if (series.drift)
    std::cout << "  DRIFT  " << readable(series.drift->anchor, "") << " -> "
              << readable(series.drift->median, "") << "  " << percent(series.drift->change)
              << " since the anchor, limit " << percent(largest_drift) << '\n';
}

int trend(const Options& options) {
  const auto store = options.value("store");
  if (!store)
    throw Error(Fault::bad_input, "holdfast trend needs --store=DIR, the folder of the history");
  const TrendOptions chosen{.match = options.value("case"),
                            .metric = options.value("metric"),
                            .anchor = options.value("anchor")};
  bool empty = true;
  bool has_anchor = !chosen.anchor;
  const Aliases aliases = Aliases::read(options.value_or("baselines", "baselines"));
  std::vector<HistoryLine> lines = read_history(*store, [&](const HistoryView& line) {
    empty = false;
    has_anchor = has_anchor || line.commit.starts_with(*chosen.anchor);
    return aliases.empty() ? chosen.covers(line.case_id, line.metric)
                           : chosen.covers(aliases.current(std::string(line.case_id)), line.metric);
  });
  for (HistoryLine& line : lines) line.case_id = aliases.current(line.case_id);
  if (empty)
    throw Error(Fault::bad_input, text(*store, " holds no history; ", begin_history(*store)));
  if (!has_anchor)
    throw Error(Fault::bad_input,
                text("--anchor=", *chosen.anchor, ": ", *store, " has no such commit"));
  const std::vector<TrendSeries> series = find_trends(lines, chosen);
  if (series.empty() && (chosen.match || chosen.metric))
    throw Error(Fault::bad_input,
                text("nothing in ", *store, " matches --case=", chosen.match.value_or("**"),
                     " --metric=", chosen.metric.value_or("any")));
  if (options.has("json")) {
    std::cout << canonical(to_json(series));
    return 0;
  }
  // Without a wish, what stands still is only counted.
  const bool all = chosen.match || chosen.metric;
  std::size_t still = 0;
  for (const TrendSeries& one : series) {
    if (all || !one.changes.empty() || one.drift)
      print(one);
    else
      ++still;
  }
  if (!all) std::cout << still << " of " << series.size() << " series without a change\n";
  return 0;
}

}  // namespace

bool TrendOptions::covers(std::string_view case_id, std::string_view named) const {
  return (!match || matches_glob(*match, case_id)) && (!metric || *metric == named);
}

std::vector<TrendSeries> find_trends(const std::vector<HistoryLine>& lines,
                                     const TrendOptions& options) {
  std::map<std::tuple<std::string, std::string, std::string, std::string>, TrendSeries> by_name;
  for (const HistoryLine& line : lines) {
    if (!options.covers(line.case_id, line.metric)) continue;
    std::vector<TrendPoint>& points =
        by_name[{line.device_class, line.case_id, line.variant, line.metric}].points;
    if (!points.empty()) refuse_twice(*points.back().line, line);
    points.push_back({.line = &line});
  }
  std::vector<TrendSeries> all;
  for (auto& [name, series] : by_name) {
    analyse(series, options.anchor);
    all.push_back(std::move(series));
  }
  return all;
}

nlohmann::json to_json(const std::vector<TrendSeries>& all) {
  nlohmann::json list = nlohmann::json::array();
  for (const TrendSeries& series : all) {
    const HistoryLine& name = series.name();
    nlohmann::json points = nlohmann::json::array();
    for (const auto& [line, outlier] : series.points)
      points.push_back({{"order", line->order},
                        {"commit", line->commit},
                        {"utc", line->utc},
                        {"value", line->value},
                        {"mad", nullable(line->mad)},
                        {"verdict", nullable(line->verdict)},
                        {"outlier", outlier}});
    nlohmann::json segments = nlohmann::json::array();
    for (const TrendSegment& part : series.segments)
      segments.push_back({{"from", part.from}, {"to", part.to}, {"median", part.median}});
    nlohmann::json changes = nlohmann::json::array();
    for (const TrendChange& change : series.changes)
      changes.push_back({{"order", change.line->order},
                         {"commit", change.line->commit},
                         {"before", change.before},
                         {"after", change.after},
                         {"change", change.change}});
    nlohmann::json drift = nullptr;
    if (series.drift)
      drift = {{"anchor", series.drift->anchor},
               {"median", series.drift->median},
               {"change", series.drift->change}};
    list.push_back({{"class", name.device_class},
                    {"case", name.case_id},
                    {"variant", name.variant},
                    {"metric", name.metric},
                    {"points", points},
                    {"segments", segments},
                    {"change_points", changes},
                    {"drift", drift}});
  }
  return {{"schema", "holdfast-trend/1"}, {"series", list}};
}

Command trend_command() {
  return {.name = "trend",
          .summary = "Shows where the history changed its level, and what drifted.",
          .operands = "",
          .options = {{"store", "DIR", "the folder of the history"},
                      {"case", "GLOB", "only these cases: * within a part of the id, ** across"},
                      {"metric", "NAME", "only this metric"},
                      {"anchor", "COMMIT",
                       "where drift counts from (default: the last accepted baseline)"},
                      {"baselines", "DIR",
                       "whose aliases.json tells which cases were renamed (default: baselines)"},
                      {"json", "", "as JSON (holdfast-trend/1)"}},
          .examples =
              "  holdfast trend --store=history --case='cubed_sphere_swe/rk4_step/**' "
              "--metric=speedup\n",
          .run = trend};
}

}  // namespace holdfast::gate
