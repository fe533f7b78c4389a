// SPDX-License-Identifier: Apache-2.0
// The files of a history and the runs in them: <store>/<device_class>/<time of its first
// run>.ndjson for a segment (history_segment.hpp), <year>.ndjson in an old store.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "gate/base/store.hpp"
#include "gate/documents/history/history_segment.hpp"

namespace holdfast::gate {

struct HistoryFile {
  std::string place;  // in the store
  std::filesystem::path content = {};
  std::string device_class = {};
  std::string begin = {};  // the time of the first run as the place has it, or a year
  bool old() const { return begin.size() == 4; }
};

// What to do where there is no history yet.
std::string begin_history(const std::filesystem::path& store);

// Opens a history; an absent folder throws Error(bad_input).
Store open_history(const std::filesystem::path& store);

// The files, by device class and time. Any other file throws Error(bad_input).
std::vector<HistoryFile> history_files(const Store& store);

// "host/2026-11-21T12-00-00Z.ndjson"
std::string segment_place(const std::string& device_class, const std::string& utc);

// Shows `use` the runs of a file in the order in which they stand there, each with what its metrics
// mean; the points of a run live until `use` is done with it. A line that is not well-formed throws
// Error(bad_input) "FILE:LINE: ..".
using UseRun = std::function<void(const HistoryRun& run, const HistoryMeanings& meanings)>;
void for_each_run(const HistoryFile& file, const UseRun& use);

// The same for a segment, which can then be written on.
void read_segment(const HistoryFile& file, HistorySegment& segment, const UseRun& use);

}  // namespace holdfast::gate
