// SPDX-License-Identifier: Apache-2.0
// The history: one line of JSON per case, variant and metric of every recorded run, in
// <store>/<device_class>/<year>.ndjson.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "gate/documents.hpp"
#include "gate/options.hpp"

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

HistoryLine parse_history_line(const Document& document);
nlohmann::json to_json(const HistoryLine& line);

// What to do where there is no history yet.
std::string begin_history(const std::filesystem::path& store);

// All lines of a store, sorted by order and time. An absent folder throws Error(bad_input), a
// malformed line "FILE:LINE: ..".
std::vector<HistoryLine> read_history(const std::filesystem::path& store);

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
// harm. Throws for runs that no commit or content stands for: custom runs and HOLDFAST_SOURCES.
Appended append_history(const std::filesystem::path& root, const std::filesystem::path& store);

Command history_command();

}  // namespace holdfast::gate
