// SPDX-License-Identifier: Apache-2.0
// holdfast-history/1, the format before segments: one line per metric of every run, in
// <store>/<device_class>/<year>.ndjson.
#pragma once

#include <deque>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gate/documents/history/history_segment.hpp"

namespace holdfast::gate {

// A file in this format, as runs; their points live as long as this.
class OldHistory {
 public:
  OldHistory(std::string device_class, std::string year)
      : device_class_(std::move(device_class)), year_(std::move(year)) {}
  OldHistory(const OldHistory&) = delete;
  OldHistory& operator=(const OldHistory&) = delete;

  void read(const Document& line);
  const std::vector<HistoryRun>& runs() const { return runs_; }

 private:
  std::string device_class_;
  std::string year_;
  std::map<HistorySeries, const HistorySeries*> known_ = {};
  std::deque<HistorySeries> series_ = {};
  std::map<std::vector<std::string>, std::size_t> by_name_ = {};
  std::vector<HistoryRun> runs_ = {};
  std::set<std::pair<std::size_t, const HistorySeries*>> held_ = {};  // which run has which
};

}  // namespace holdfast::gate
