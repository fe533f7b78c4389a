// SPDX-License-Identifier: Apache-2.0
// The history: one line of JSON per case, variant and metric of every recorded run, in
// <store>/<device_class>/<year>.ndjson.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "gate/documents/documents.hpp"
#include "gate/documents/history_file.hpp"

namespace holdfast::gate {

struct HistoryLine {
  std::string utc;
  std::string
      commit;  // git's hash, or where the tree was not committed the content's, "sha256:..."
  std::int64_t order = 0;  // counts commits in the order in which they came into the store
  std::string device_class;
  std::string fingerprint;
  std::string case_id;
  std::string variant;
  std::string metric;
  double value = 0;
  std::optional<double> mad = {};  // between processes
  std::optional<std::string> verdict = {};
};

HistoryLine kept(const HistoryView& line);  // with texts of its own
nlohmann::json to_json(const HistoryLine& line);

// The lines of a store that are `wanted` (by default all), sorted by order and time; the others are
// read as strictly, and take no memory. Throws as for_each_line() does.
std::vector<HistoryLine> read_history(
    const std::filesystem::path& store, const std::function<bool(const HistoryView&)>& wanted =
                                            [](const HistoryView&) { return true; });

// 40 runs of 10 000 metrics: how far back the last runs of a suite are looked for, so that this
// takes no longer where the tools have changed and no run is comparable.
inline constexpr std::size_t newest_lines = 400'000;

// The lines of the last `runs` runs of this suite, device class and fingerprint that began before
// `now`, oldest first; among the newest lines of the class.
std::vector<HistoryLine> last_runs(const std::filesystem::path& store, const Results& now,
                                   std::size_t runs);

// The lines of one result, all with this order. Cases that are not ok, and metrics without a
// number, have none.
std::vector<HistoryLine> history_lines(const Results& results, std::int64_t order,
                                       const Verdict* verdict);

struct Appended {
  std::size_t lines = 0;
  std::size_t runs = 0;
  std::size_t known = 0;  // runs that the store had already
};

// Adds the results below `root`, with the verdicts of its verdict.json where there is one. What the
// store already has of a run is not added again, so that an interrupted or repeated call does no
// harm. Throws for runs that no commit or content stands for (custom runs and HOLDFAST_SOURCES),
// and for files that are not named as what they hold.
Appended append_history(const std::filesystem::path& root, const std::filesystem::path& store);

}  // namespace holdfast::gate
