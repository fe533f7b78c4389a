// SPDX-License-Identifier: Apache-2.0
// Reading a store of any length: line by line, in little memory, and as strictly as every other
// document.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "gate/base/json.hpp"
#include "gate/base/store.hpp"

namespace holdfast::gate {

// One line of the history; its texts live until the next line is read.
struct HistoryView {
  std::string_view utc = {};
  std::string_view commit = {};
  std::int64_t order = 0;
  std::string_view device_class = {};
  std::string_view fingerprint = {};
  std::string_view case_id = {};
  std::string_view variant = {};
  std::string_view metric = {};
  double value = 0;
  std::optional<double> mad = {};
  std::optional<std::string_view> verdict = {};
};

// What to do where there is no history yet.
std::string begin_history(const std::filesystem::path& store);

// Opens a history; an absent folder throws Error(bad_input).
Store open_history(const std::filesystem::path& store);

// Shows `use` every line of <store>/<device_class>/<year>.ndjson, by device class and year, each in
// the order of its file. A malformed line throws Error(bad_input), and so does one that stands in
// another class's folder or another year's file, "FILE:LINE: ..".
void for_each_line(const Store& store, const std::function<void(const HistoryView&)>& use);

// The same for one device class, the newest year first and each file from its end, until `use` says
// false: what is asked of the newest runs costs the same however long the history is.
void for_each_line_from_end(const Store& store, const std::string& device_class,
                            const std::function<bool(const HistoryView&)>& use);

// A line in the very form that `history append` writes, which is read ten times as fast as JSON in
// general; empty for every other one, be it right or wrong.
std::optional<HistoryView> read_canonical_line(std::string_view line);

// Any line, read as JSON. `document` must outlive the view.
HistoryView parse_history_line(const Document& document);

}  // namespace holdfast::gate
