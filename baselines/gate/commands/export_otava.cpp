// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iostream>
#include <map>
#include <set>

#include "gate/base/written_file.hpp"
#include "gate/commands/export.hpp"
#include "gate/documents/aliases.hpp"
#include "gate/documents/case_name.hpp"
#include "gate/history/trend_lines.hpp"

namespace holdfast::gate {
namespace {

namespace fs = std::filesystem;

// A run's time and, for runs of one second, its id and commit.
struct RunKey {
  std::string utc, id, commit;
  auto operator<=>(const RunKey&) const = default;
};
// Runs that can be compared: of one case and variant, on one class, machine and tools; by metric.
using RunTable = std::map<RunKey, std::map<std::string, const HistoryLine*>>;
struct TableName {
  std::string device_class, case_id, variant, fingerprint;
  auto operator<=>(const TableName&) const = default;
};

// "host-x86_64-v4-2t.toy-step-n-64-f64.optimized", a name for files and for Otava.
std::string otava_name(const TableName& name) {
  std::string out = text(name.device_class, '.', name.case_id, '.', name.variant);
  std::replace_if(
      out.begin(), out.end(), [](char c) { return c == '/' || c == ':' || c == ' '; }, '-');
  return out;
}

// The names of the tests: digits tell those apart that differ in '/', ':' and '-' alone.
std::map<TableName, std::string> otava_names(const std::map<TableName, RunTable>& tables) {
  std::map<std::string, int> uses;
  for (const auto& [name, table] : tables) ++uses[otava_name(name)];
  std::map<TableName, std::string> names;
  for (const auto& [name, table] : tables) {
    names[name] = otava_name(name);
    if (uses[otava_name(name)] > 1)
      names[name] += '.' + sha256_digits(name.case_id + '|' + name.variant).substr(0, 8);
  }
  return names;
}

std::string csv_text(const std::string& value) {
  std::string out = "\"";
  for (const char c : value) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + '"';
}

// The series that changed their level within the newest runs of a class, by name.
std::set<std::vector<std::string>> changed_series(const HistoryLines& lines,
                                                  const AcceptedOf& accepted) {
  std::set<std::vector<std::string>> changed;
  for (const TrendSeries& series : find_trends(lines, {.accepted = accepted}))
    if (!series.changes.empty() || series.drift)
      changed.insert({series.name().device_class, series.name().case_id, series.name().variant,
                      series.name().metric});
  return changed;
}

// Otava knows no gaps: a run that lacks one of the metrics is left out, and a metric that most runs
// lack stands in no table.
std::set<std::string> usual_metrics(const RunTable& table) {
  std::map<std::string, std::size_t> counts;
  for (const auto& [run, metrics] : table)
    for (const auto& [metric, line] : metrics) ++counts[metric];
  std::set<std::string> usual;
  for (const auto& [metric, count] : counts)
    if (2 * count > table.size()) usual.insert(metric);
  return usual;
}

std::string csv_of(const RunTable& table, const std::set<std::string>& metrics) {
  std::string out = "time,commit";
  for (const std::string& metric : metrics) out += ',' + metric;
  out += '\n';
  for (const auto& [run, held] : table) {
    const auto has = [&held = held](const std::string& metric) { return held.contains(metric); };
    if (!std::all_of(metrics.begin(), metrics.end(), has)) continue;
    out += run.utc + ',' + csv_text(run.commit);
    for (const std::string& metric : metrics)
      out += ',' + nlohmann::json(held.at(metric)->value).dump();
    out += '\n';
  }
  return out;
}

}  // namespace

void export_otava(const Options& options) {
  const auto out = options.value("out");
  if (!out)
    throw Error(Fault::bad_input, "--format=otava needs --out=DIR, which receives its files");
  const std::vector<std::string> wished = options.values("metric");
  const std::string& store = options.operands().front();
  bool empty = true;
  HistoryLines lines = read_history(store, [&](const HistorySeries& series, const std::string&) {
    empty = false;
    return wished.empty() || std::find(wished.begin(), wished.end(), series.metric) != wished.end();
  });
  if (empty)
    throw Error(Fault::bad_input, text(store, " holds no history; ", begin_history(store)));
  if (lines.empty())
    throw Error(Fault::bad_input, text("nothing in ", store, " has the metric ", wished.front()));
  const std::string baselines = options.value_or("baselines", "baselines");
  const Aliases aliases = Aliases::read(baselines);
  for (HistoryLine& line : lines) line.case_id = aliases.current(line.case_id);
  const bool changed_only = options.has("changed-only");
  const auto changed = changed_only ? changed_series(lines, accepted_in(baselines, aliases))
                                    : std::set<std::vector<std::string>>();
  std::map<TableName, RunTable> tables;
  const auto part_of = [](const HistoryLine& line) {
    return std::pair(line.device_class.text(), std::string(suite_of(line.case_id.text())));
  };
  // Fingerprint, by class and suite: suites may be measured on different machines or days.
  std::map<std::pair<std::string, std::string>, std::string> newest;
  for (const HistoryLine& line : lines) newest[part_of(line)] = line.fingerprint;
  std::set<TableName> earlier;
  for (const HistoryLine& line : lines) {
    if (changed_only &&
        !changed.contains({line.device_class, line.case_id, line.variant, line.metric}))
      continue;
    const TableName name{line.device_class, line.case_id, line.variant, line.fingerprint};
    if (name.fingerprint == newest.at(part_of(line)))
      tables[name][{line.utc, line.run, line.commit}][line.metric] = &line;
    else
      earlier.insert(name);
  }
  make_folder(*out);
  std::string config = "tests:\n";
  const std::map<TableName, std::string> names = otava_names(tables);
  for (const auto& [name, table] : tables) {
    const std::set<std::string> metrics = usual_metrics(table);
    const std::string& test = names.at(name);
    write_file(fs::path(*out) / (test + ".csv"), csv_of(table, metrics), Sync::no);
    // JSON's quotes are YAML's, too, and a path may hold what YAML would obey.
    const std::string file = (fs::absolute(*out) / (test + ".csv")).string();
    config += text("  ", test, ":\n    type: csv\n    file: ", canonical_line(file),
                   "\n    time_column: time\n    attributes: [commit]\n    metrics:\n");
    for (const std::string& metric : metrics) config += text("      ", metric, ": {}\n");
  }
  if (tables.empty()) config = "tests: {}\n";
  write_file(fs::path(*out) / "otava.yaml", config, Sync::no);
  std::cout << *out << ": " << plural(tables.size(), "test") << " for otava, of the newest machine "
            << "and tools of each suite and class";
  if (!earlier.empty())
    std::cout << "; left out " << plural(earlier.size(), "test") << " of others";
  std::cout << "\n";
}

}  // namespace holdfast::gate
