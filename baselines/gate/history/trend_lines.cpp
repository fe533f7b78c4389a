// SPDX-License-Identifier: Apache-2.0
#include "gate/history/trend_lines.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "gate/documents/baseline_files.hpp"
#include "gate/documents/case_name.hpp"
#include "gate/documents/policy/policy.hpp"
#include "gate/documents/verdict_names.hpp"
#include "gate/history/change_points.hpp"

namespace holdfast::gate {
namespace {

// Points of a series that can be compared, as indices.
using Group = std::vector<std::size_t>;

// The stretch of a branch in a series: indices of its first and last point.
struct Stretch {
  std::string branch;
  std::size_t first = 0;
  std::size_t last = 0;
  std::size_t points = 0;
  bool meets(const Stretch& other) const { return first <= other.last && other.first <= last; }
};

std::vector<Stretch> stretches_of(const TrendSeries& series) {
  std::vector<Stretch> found;
  for (std::size_t i = 0; i < series.points.size(); ++i) {
    const std::string& branch = series.points[i].line->branch;
    if (branch.empty()) continue;
    auto at = std::find_if(found.begin(), found.end(),
                           [&](const Stretch& one) { return one.branch == branch; });
    if (at == found.end()) at = found.insert(at, {.branch = branch, .first = i});
    at->last = i;
    ++at->points;
  }
  return found;
}

// The branches that overlap the longest one instead of preceding or following it: they say nothing
// of the levels there. Points of an unknown branch belong to the longest one, except those of a
// line of descent aside.
std::set<std::string> side_branches(const TrendSeries& series) {
  std::vector<Stretch> found = stretches_of(series), trunk;
  std::stable_sort(found.begin(), found.end(),
                   [](const Stretch& a, const Stretch& b) { return a.points > b.points; });
  std::set<std::string> sides;
  for (const Stretch& one : found) {
    if (std::none_of(trunk.begin(), trunk.end(),
                     [&](const Stretch& other) { return one.meets(other); }))
      trunk.push_back(one);
    else
      sides.insert(one.branch);
  }
  return sides;
}

// The position in `group` of the point that drift counts from; none where the commit is elsewhere.
std::optional<std::size_t> anchor_position(const TrendSeries& series, const Group& group,
                                           const std::optional<std::string>& commit) {
  for (std::size_t i = group.size(); i-- > 0;) {
    const HistoryLine& line = *series.points[group[i]].line;
    if (commit ? line.commit.text().starts_with(*commit) : line.verdict == verdict::accepted)
      return i;
  }
  if (commit) return std::nullopt;
  return 0;
}

// The same, where a value was accepted that may be later than `position`: a point since then. What
// is accepted with a change is measured before the change is merged, so runs of the old level may
// follow; the first segment at the accepted level counts, if there is one.
std::size_t since_acceptance(const TrendSeries& series, const Group& group,
                             const std::vector<Segment>& segments, const Accepted& accepted,
                             std::size_t position) {
  const auto is_before = [&](std::size_t i) {
    return series.points[group[i]].line->utc.text() < accepted.utc;
  };
  std::size_t first = group.size() - 1;  // nothing drifts before anything is measured
  while (first > 0 && !is_before(first - 1)) --first;
  for (const Segment& part : segments)
    if (part.last >= first &&
        std::abs(relative_change(accepted.value, part.median)) <= largest_drift)
      return std::max({position, first, part.first});
  return std::max(position, first);
}

void find_drift(TrendSeries& series, const Group& group, const std::vector<Segment>& segments,
                const TrendOptions& options) {
  auto position = anchor_position(series, group, options.anchor);
  if (!position) return;
  const auto line_at = [&](std::size_t at) { return series.points[group[at]].line; };
  std::optional<Accepted> accepted;
  const Segment& now = segments.back();
  if (!options.anchor && options.accepted) {
    HistoryLine newest = *line_at(group.size() - 1);
    newest.value = now.median;
    accepted = options.accepted(newest);
  }
  double anchor = 0;
  if (accepted) {
    if (line_at(now.first)->utc.text() < accepted->utc) return;  // what was accepted is not yet run
    position = since_acceptance(series, group, segments, *accepted, *position);
    anchor = accepted->value;
  } else {
    anchor = std::ranges::find_if(segments, [&](const Segment& part) {
               return *position <= part.last;
             })->median;
  }
  const double change = relative_change(anchor, now.median);
  if (std::abs(change) > largest_drift)
    series.drift = {line_at(*position), anchor, now.median, change};
}

void find_changes(TrendSeries& series, const Group& group, bool newest,
                  const TrendOptions& options) {
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
    series.changes.push_back({.line = line_at(part.first),
                              .last = line_at(part.first - 1),
                              .before = before,
                              .after = part.median,
                              .change = relative_change(before, part.median)});
  }
  if (newest) find_drift(series, group, found.segments, options);
}

// Points of one environment are comparable.
const std::string& environment_of(const HistoryLine& line) {
  return line.tools.text().empty() ? line.fingerprint : line.tools;
}

void analyse(TrendSeries& series, const TrendOptions& options) {
  const std::set<std::string> sides = side_branches(series);
  const auto branch_of = [&](const TrendPoint& point) -> const std::string& {
    const std::string& branch = point.line->branch;
    return sides.contains(branch) ? branch : point.line->aside.text();
  };
  // Invalid points say nothing of a level, if there are any others.
  const bool any_sound = std::ranges::any_of(
      series.points, [](const TrendPoint& point) { return !point.line->unsound; });
  std::map<std::string, std::map<std::string, Group>> groups;  // by environment and branch
  std::size_t last = 0;
  for (std::size_t i = 0; i < series.points.size(); ++i) {
    TrendPoint& point = series.points[i];
    point.outlier = any_sound && point.line->unsound;
    if (point.outlier) continue;
    groups[environment_of(*point.line)][branch_of(point)].push_back(last = i);
  }
  const TrendPoint& end = series.points[last];
  const Group& newest = groups[environment_of(*end.line)][branch_of(end)];
  for (const auto& [environment, branches] : groups)
    for (const auto& [branch, group] : branches)
      find_changes(series, group, &group == &newest, options);
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
  if (before.order != line.order || before.utc != line.utc || before.run != line.run ||
      before.commit != line.commit || before.fingerprint != line.fingerprint)
    return;
  throw Error(Fault::bad_input,
              text("the history holds ", line.metric, " of ", line.case_id, ' ', line.variant,
                   " on ", line.device_class, " twice for the run of ", line.utc,
                   "; remove one of the two lines, or the alias that made two cases one"));
}

}  // namespace

AcceptedOf accepted_in(const std::filesystem::path& baselines, const Aliases& aliases) {
  std::map<std::string, std::optional<Baseline>> files;  // by place
  return [=](const HistoryLine& line) mutable -> std::optional<Accepted> {
    const std::string place =
        baseline_file(line.device_class, std::string(suite_of(line.case_id.text())));
    const auto [file, is_new] = files.try_emplace(place);
    if (is_new) {
      file->second = read_baseline_if_any(Store(baselines, Store::Use::reading), place);
      if (file->second) aliases.rename(*file->second);
    }
    if (!file->second) return std::nullopt;
    const std::string key = entry_key(line.case_id, line.variant, line.metric);
    std::optional<Accepted> nearest;
    const auto off = [&](double value) { return std::abs(relative_change(value, line.value)); };
    for (const auto& [processor, entries] : by_processor(*file->second)) {
      const bool own = processor.empty() || processor == line.processor.text() ||
                       processor == line.processor.text() + " apart";
      const auto entry = entries->find(key);
      if (!own || entry == entries->end()) continue;
      const auto* value = std::get_if<double>(&entry->second.value);
      if (value && (!nearest || off(*value) < off(nearest->value)))
        nearest = Accepted{entry->second.accepted.utc, *value};
    }
    return nearest;
  };
}

bool TrendOptions::covers(std::string_view case_id, std::string_view named) const {
  return (!match || matches_glob(*match, case_id)) && (!metric || matches_glob(*metric, named));
}

std::vector<TrendSeries> find_trends(const HistoryLines& lines, const TrendOptions& options) {
  std::map<std::tuple<std::string, std::string, std::string, std::string>, TrendSeries> by_name;
  for (const HistoryLine& line : lines) {
    if (!options.covers(line.case_id.text(), line.metric.text())) continue;
    std::vector<TrendPoint>& points =
        by_name[{line.device_class, line.case_id, line.variant, line.metric}].points;
    if (!points.empty()) refuse_twice(*points.back().line, line);
    points.push_back({.line = &line});
  }
  std::vector<TrendSeries> all;
  for (auto& [name, series] : by_name) {
    analyse(series, options);
    all.push_back(std::move(series));
  }
  return all;
}

namespace {

bool is_still(const TrendSeries& series) {
  return std::ranges::all_of(series.points, [&](const TrendPoint& point) {
    return point.line->value == series.name().value && point.line->mad == series.name().mad;
  });
}

// The points to write: of a still series the ends, and each point with another verdict than the one
// before it.
std::vector<TrendPoint> told_points(const TrendSeries& series, Told told) {
  if (told == Told::none) return {};
  const std::vector<TrendPoint>& points = series.points;
  if (told == Told::all || !is_still(series)) return points;
  std::vector<TrendPoint> kept;
  for (std::size_t i = 0; i < points.size(); ++i)
    if (i == 0 || i + 1 == points.size() || points[i].line->verdict != points[i - 1].line->verdict)
      kept.push_back(points[i]);
  return kept;
}

}  // namespace

nlohmann::json to_json(const TrendSeries& series, Told told) {
  const HistoryLine& name = series.name();
  nlohmann::json points = nlohmann::json::array();
  for (const auto& [line, outlier] : told_points(series, told))
    points.push_back({{"order", line->order},
                      {"commit", line->commit.text()},
                      {"utc", line->utc.text()},
                      {"value", line->value},
                      {"mad", nullable(line->mad)},
                      {"verdict", line->verdict ? nlohmann::json(line->verdict->text()) : nullptr},
                      {"outlier", outlier}});
  nlohmann::json segments = nlohmann::json::array();
  for (const TrendSegment& part : series.segments)
    segments.push_back({{"from", part.from}, {"to", part.to}, {"median", part.median}});
  nlohmann::json changes = nlohmann::json::array();
  for (const TrendChange& change : series.changes)
    changes.push_back({{"order", change.line->order},
                       {"commit", change.line->commit.text()},
                       {"last_before", change.last->commit.text()},
                       {"before", change.before},
                       {"after", change.after},
                       {"change", change.change}});
  nlohmann::json drift = nullptr;
  if (series.drift)
    drift = {{"since", series.drift->since->commit.text()},
             {"anchor", series.drift->anchor},
             {"median", series.drift->median},
             {"change", series.drift->change}};
  nlohmann::json made = {{"class", name.device_class.text()}, {"case", name.case_id.text()},
                         {"variant", name.variant.text()},    {"metric", name.metric.text()},
                         {"segments", std::move(segments)},   {"change_points", std::move(changes)},
                         {"drift", std::move(drift)}};
  if (told != Told::none) made["points"] = std::move(points);
  return made;
}

}  // namespace holdfast::gate
