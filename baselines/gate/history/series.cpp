// SPDX-License-Identifier: Apache-2.0
#include "gate/history/series.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace holdfast::gate {
namespace {

namespace fs = std::filesystem;

using Wanted = std::function<bool(const HistorySeries&, const std::string& commit)>;

// What all lines of a run have in common.
HistoryLine line_of(const HistoryFile& file, const HistoryRun& run) {
  return {.utc = run.utc,
          .commit = run.commit.name,
          .order = run.commit.order,
          .device_class = file.device_class,
          .fingerprint = run.fingerprint()};
}

void add_lines(const HistoryFile& file, const HistoryRun& run, const Wanted& wanted,
               std::vector<HistoryLine>& lines) {
  HistoryLine line = line_of(file, run);
  for (const HistoryPoint& point : run.points) {
    if (!wanted(*point.series, run.commit.name)) continue;
    line.case_id = point.series->case_id;
    line.variant = point.series->variant;
    line.metric = point.series->metric;
    line.value = point.value.value;
    line.mad = point.value.spread();
    line.verdict = point.verdict;
    lines.push_back(line);
  }
}

}  // namespace

std::vector<HistoryLine> read_history(const fs::path& folder, const Wanted& wanted) {
  std::vector<HistoryLine> lines;
  std::map<std::string, std::int64_t> orders;
  const Store store = open_history(folder);
  for (const HistoryFile& file : history_files(store))
    for_each_run(file, [&](const HistoryRun& run, const HistoryMeanings&) {
      const auto [at, fresh] = orders.try_emplace(run.commit.name, run.commit.order);
      at->second = std::min(at->second, run.commit.order);
      add_lines(file, run, wanted, lines);
    });
  for (HistoryLine& line : lines) line.order = orders.at(line.commit);
  std::stable_sort(lines.begin(), lines.end(), [](const HistoryLine& a, const HistoryLine& b) {
    return std::tie(a.order, a.utc.text()) < std::tie(b.order, b.utc.text());
  });
  return lines;
}

std::vector<HistoryLine> last_runs(const fs::path& folder, const Results& now, std::size_t runs) {
  const Store store = open_history(folder);
  std::map<std::string, std::vector<HistoryLine>> found;  // by time
  std::size_t looked_at = 0;
  std::vector<HistoryFile> files = history_files(store);
  std::reverse(files.begin(), files.end());
  for (const HistoryFile& file : files) {
    if (file.device_class != now.env.device_class) continue;
    if (found.size() >= runs || looked_at > newest_values) break;
    for_each_run(file, [&](const HistoryRun& run, const HistoryMeanings&) {
      looked_at += run.points.size();
      if (run.suite != now.suite || run.utc >= now.run.utc ||
          run.fingerprint() != now.env.fingerprint)
        return;
      std::vector<HistoryLine>& lines = found[run.utc];
      lines.clear();
      add_lines(
          file, run, [](const auto&, const auto&) { return true; }, lines);
      if (found.size() > runs && found.begin()->first < run.utc) found.erase(found.begin());
    });
  }
  std::vector<HistoryLine> all;
  const std::size_t old = found.size() > runs ? found.size() - runs : 0;
  for (auto run = std::next(found.begin(), static_cast<std::ptrdiff_t>(old)); run != found.end();
       ++run)
    all.insert(all.end(), run->second.begin(), run->second.end());
  return all;
}

}  // namespace holdfast::gate
