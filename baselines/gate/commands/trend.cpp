// SPDX-License-Identifier: Apache-2.0
#include <iostream>

#include "gate/base/numbers.hpp"
#include "gate/base/printing.hpp"
#include "gate/base/shown_text.hpp"
#include "gate/commands/commands.hpp"
#include "gate/documents/aliases.hpp"
#include "gate/documents/verdict_names.hpp"
#include "gate/history/trend_lines.hpp"

namespace holdfast::gate {
namespace {

std::string short_commit(const std::string& commit) {
  const std::string hash =
      commit.starts_with("sha256:") ? commit.substr(std::string("sha256:").size()) : commit;
  return std::string(beginning(hash, 10));
}

// "77be5ecd97, 2026-08-31, main"
std::string about(const HistoryLine& line) {
  const std::string branch = line.branch.text().empty() ? "" : ", " + line.branch.text();
  return text(short_commit(line.commit), ", ", beginning(line.utc.text(), 10), branch);
}

// Empty if the value before was 0.
std::string share_of(double before, double change) {
  return before == 0 ? "" : "  " + percent(change);
}

void print(const TrendSeries& series) {
  const HistoryLine& name = series.name();
  const std::string unit = unit_of_name(name.metric);
  const HistoryLine& last = *series.points.back().line;
  std::cout << name.device_class << "  " << name.case_id << "  " << name.variant << "  "
            << name.metric << '\n'
            << "  " << plural(series.points.size(), "point") << ", commits " << name.order << " to "
            << last.order << ", now " << readable(last.value, unit) << '\n';
  for (const TrendChange& change : series.changes)
    std::cout << "  change at commit " << change.line->order << " (" << about(*change.line)
              << "), after " << change.last->order << " (" << short_commit(change.last->commit)
              << "): " << readable(change.before, unit) << " -> " << readable(change.after, unit)
              << share_of(change.before, change.change) << '\n';
  if (series.drift)
    std::cout << "  " << toned(Tone::warning, "DRIFT") << "  "
              << readable(series.drift->anchor, unit) << " -> "
              << readable(series.drift->median, unit)
              << share_of(series.drift->anchor, series.drift->change) << " since commit "
              << series.drift->since->order << " (" << about(*series.drift->since) << "), limit "
              << percent(largest_drift) << '\n';
}

// A series to a line, one at a time: the document of a long history is far larger than its values.
void print_json(const std::vector<TrendSeries>& all, const std::vector<std::string>& commits,
                Told told) {
  std::cout << "{\"commits\": " << canonical_line(commits)
            << ", \"schema\": \"holdfast-trend/1\", \"series\": [";
  const char* separator = "\n";
  for (const TrendSeries& series : all) {
    std::cout << separator << canonical_line(to_json(series, told));
    separator = ",\n";
  }
  std::cout << "]}\n";
}

int trend(const Options& options) {
  const auto store = options.value("store");
  if (!store)
    throw Error(Fault::bad_input, "holdfast trend needs --store=DIR, the folder of the history");
  TrendOptions chosen{.match = options.value("case"),
                      .metric = options.value("metric"),
                      .anchor = options.value("anchor")};
  bool has_anchor = !chosen.anchor;
  const std::string baselines = options.value_or("baselines", "baselines");
  const Aliases aliases = Aliases::read(baselines);
  chosen.accepted = accepted_in(baselines, aliases);
  StoredHistory history =
      read_store(*store, [&](const HistorySeries& series, const std::string& commit) {
        has_anchor = has_anchor || commit.starts_with(*chosen.anchor);
        return aliases.empty() ? chosen.covers(series.case_id, series.metric)
                               : chosen.covers(aliases.current(series.case_id), series.metric);
      });
  for (HistoryLine& line : history.lines) line.case_id = aliases.current(line.case_id);
  if (history.commits.empty())
    throw Error(Fault::bad_input, text(*store, " holds no history; ", begin_history(*store)));
  if (!has_anchor)
    throw Error(Fault::bad_input,
                text("--anchor=", *chosen.anchor, ": ", *store, " has no such commit"));
  const std::vector<TrendSeries> series = find_trends(history.lines, chosen);
  if (series.empty() && (chosen.match || chosen.metric))
    throw Error(
        Fault::bad_input,
        text("nothing in ", *store, " matches", chosen.match ? text(" --case=", *chosen.match) : "",
             chosen.metric ? text(" --metric=", *chosen.metric) : "",
             chosen.match ? " (* within a part of the id, ** across)" : ""));
  if (options.has("json")) {
    print_json(series, history.commits,
               options.has("no-points") ? Told::none
               : options.has("brief")   ? Told::ends_of_still
                                        : Told::all);
    return 0;
  }
  // Unless asked for, unchanged series are only counted.
  const bool all = (chosen.match || chosen.metric) && !printing().quiet;
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

Command trend_command() {
  return {
      .name = "trend",
      .summary = "Shows where the history changed its level, and what drifted.",
      .operands = "",
      .options = {{"store", "DIR", "the folder of the history"},
                  {"case", "GLOB", "only these cases: * within a part of the id, ** across"},
                  {"metric", "GLOB", "only these metrics, as '*_s'"},
                  {"anchor", "COMMIT",
                   "where drift counts from (default: the last accepted baseline)"},
                  {"baselines", "DIR",
                   "whose aliases.json tells which cases were renamed, and which hold what was "
                   "accepted (default: baselines)"},
                  {"json", "", "as JSON (holdfast-trend/1)"},
                  OptionRow{
                      "brief", "",
                      "for an unchanged series, only its first and last points and any change of "
                      "verdict"}
                      .beside("json"),
                  OptionRow{"no-points", "", "levels and changes alone"}.beside("json")},
      .examples =
          "  holdfast trend --store=history --case='cubed_sphere_swe/rk4_step/**' "
          "--metric=speedup\n",
      .run = trend};
}

}  // namespace holdfast::gate
