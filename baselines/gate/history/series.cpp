// SPDX-License-Identifier: Apache-2.0
#include "gate/history/series.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace holdfast::gate {
namespace {

namespace fs = std::filesystem;

using Wanted = std::function<bool(const HistorySeries&, const std::string& commit)>;

// What all lines of a run have in common.
HistoryLine line_of(const HistoryFile& file, const HistoryRun& run) {
  return {.utc = run.utc,
          .run = run.id.value_or(""),
          .commit = run.commit.name,
          .device_class = file.device_class,
          .fingerprint = run.fingerprint(),
          .processor = run.processor(),
          .branch = run.commit.branch.value_or("")};
}

bool is_timed(const HistoryMeanings& meanings, const std::string& metric) {
  const auto at = meanings.find(metric);
  return at != meanings.end() && (at->second.kind == "time" || at->second.kind == "ratio");
}

// Whether the class and the tools alone determine it.
bool is_count(const HistoryMeanings& meanings, const std::string& metric) {
  const auto at = meanings.find(metric);
  return at != meanings.end() && (at->second.kind == "exact" || at->second.kind == "codegen");
}

void add_lines(const HistoryFile& file, const HistoryRun& run, const HistoryMeanings& meanings,
               const Wanted& wanted, HistoryLines& lines) {
  HistoryLine line = line_of(file, run);
  const Interned tools = run.tools();
  for (const HistoryPoint& point : run.points) {
    if (!wanted(*point.series, run.commit.name)) continue;
    line.case_id = point.series->case_id;
    line.variant = point.series->variant;
    line.metric = point.series->metric;
    line.tools = is_count(meanings, point.series->metric) ? tools : Interned();
    line.value = point.value.value;
    line.mad = point.value.spread();
    line.unsound = !run.invalid.empty() && is_timed(meanings, point.series->metric);
    line.verdict = point.verdict;
    lines.push_back(line);
  }
}

// What determines a commit's place.
struct Place {
  std::string begun;       // the time of its first run
  std::int64_t order = 0;  // the least that it has in the store
  std::optional<std::string> parent = {};
  bool has_branch = false;  // its branch is known
};
using Places = std::map<std::string, Place>;  // by the commit's name

void note(const HistoryRun& run, Places& places) {
  const Place fresh{.begun = run.utc, .order = run.commit.order};
  Place& place = places.try_emplace(run.commit.name, fresh).first->second;
  place.begun = std::min(place.begun, run.utc);
  place.order = std::min(place.order, run.commit.order);
  if (!place.parent) place.parent = run.commit.parent;
  place.has_branch = place.has_branch || run.commit.branch.has_value();
}

std::vector<std::string> in_order(const Places& places) {
  std::vector<Places::const_iterator> by_time;
  for (auto commit = places.begin(); commit != places.end(); ++commit) by_time.push_back(commit);
  std::sort(by_time.begin(), by_time.end(), [](const auto& a, const auto& b) {
    return std::tie(a->second.begun, a->second.order, a->first) <
           std::tie(b->second.begun, b->second.order, b->first);
  });
  std::set<std::string> placed;
  std::vector<std::string> ordered;
  for (auto commit : by_time) {
    std::vector<std::string> line;  // of parents that have no place yet
    while (commit != places.end() && placed.insert(commit->first).second) {
      line.push_back(commit->first);
      commit = places.find(commit->second.parent.value_or(""));
    }
    ordered.insert(ordered.end(), line.rbegin(), line.rend());
  }
  return ordered;
}

bool is_of_git(const std::string& commit) {
  return !commit.starts_with("sha256:");
}

// For each commit with children in git, the child that continues it: on a known branch rather than
// on none, then with the most descendants, then the first.
std::map<std::string, std::string> successors(const Places& places,
                                              const std::vector<std::string>& ordered) {
  std::map<std::string, std::pair<bool, int>> weights;
  std::map<std::string, std::string> chosen;
  for (auto commit = ordered.rbegin(); commit != ordered.rend(); ++commit) {
    const Place& place = places.at(*commit);
    if (!is_of_git(*commit) || !place.parent) continue;
    auto& [has_branch, descendants] = weights[*commit];
    has_branch = place.has_branch;
    weights[*place.parent].second += descendants + 1;
    std::string& child = chosen[*place.parent];
    if (child.empty() || weights.at(*commit) >= weights.at(child)) child = *commit;
  }
  return chosen;
}

// HistoryLine::aside by commit, where it is not empty.
std::map<std::string, std::string> lines_aside(const Places& places,
                                               const std::vector<std::string>& ordered) {
  const std::map<std::string, std::string> successor = successors(places, ordered);
  std::map<std::string, std::string> aside;
  for (const std::string& commit : ordered) {  // parents first
    const Place& place = places.at(commit);
    if (place.has_branch || !place.parent) continue;
    const bool leaves = is_of_git(commit) && successor.at(*place.parent) != commit;
    const auto before = aside.find(*place.parent);
    if (leaves || before != aside.end()) aside[commit] = leaves ? commit : before->second;
  }
  return aside;
}

}  // namespace

StoredHistory read_store(const fs::path& folder, const Wanted& wanted) {
  StoredHistory history;
  HistoryLines& lines = history.lines;
  Places places;
  const Store store = open_history(folder);
  for (const HistoryFile& file : history_files(store)) {
    for_each_run(file, [&](const HistoryRun& run, const HistoryMeanings& meanings) {
      note(run, places);
      add_lines(file, run, meanings, wanted, lines);
    });
  }
  history.commits = in_order(places);
  std::map<std::string, std::int32_t> orders;
  for (const std::string& commit : history.commits)
    orders[commit] = static_cast<std::int32_t>(orders.size()) + 1;
  const std::map<std::string, std::string> aside = lines_aside(places, history.commits);
  for (HistoryLine& line : lines) {
    line.order = orders.at(line.commit);
    if (const auto at = aside.find(line.commit); at != aside.end()) line.aside = at->second;
  }
  const auto earlier = [](const HistoryLine& a, const HistoryLine& b) {
    return std::tie(a.device_class.text(), a.order, a.utc.text()) <
           std::tie(b.device_class.text(), b.order, b.utc.text());
  };
  // Most stores are in order, and sorting takes half as much memory again.
  if (!std::is_sorted(lines.begin(), lines.end(), earlier))
    std::stable_sort(lines.begin(), lines.end(), earlier);
  return history;
}

HistoryLines read_history(const fs::path& folder, const Wanted& wanted) {
  return read_store(folder, wanted).lines;
}

HistoryLines last_runs(const fs::path& folder, const Results& now, std::size_t runs) {
  const Store store = open_history(folder);
  // By time, and by id and commit: runs of a fleet may begin in the same second.
  std::map<std::tuple<std::string, std::string, std::string>, HistoryLines> found;
  std::size_t looked_at = 0;
  std::vector<HistoryFile> files = history_files(store);
  std::reverse(files.begin(), files.end());
  for (const HistoryFile& file : files) {
    if (file.device_class != now.env.device_class) continue;
    if (found.size() >= runs || looked_at > newest_values) break;
    for_each_run(file, [&](const HistoryRun& run, const HistoryMeanings& meanings) {
      looked_at += run.points.size();
      if (run.suite != now.suite || run.utc >= now.run.utc || !run.invalid.empty() ||
          run.fingerprint() != now.env.fingerprint)
        return;
      HistoryLines& lines = found[{run.utc, run.id.value_or(""), run.commit.name}];
      lines.clear();
      add_lines(
          file, run, meanings, [](const auto&, const auto&) { return true; }, lines);
      if (found.size() > runs) found.erase(found.begin());
    });
  }
  HistoryLines all;
  const std::size_t old = found.size() > runs ? found.size() - runs : 0;
  for (auto run = std::next(found.begin(), static_cast<std::ptrdiff_t>(old)); run != found.end();
       ++run)
    all.insert(all.end(), run->second.begin(), run->second.end());
  return all;
}

}  // namespace holdfast::gate
