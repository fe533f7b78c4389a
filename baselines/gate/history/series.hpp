// SPDX-License-Identifier: Apache-2.0
// The history as values: one line per case, variant and metric of every recorded run.
#pragma once

#include <deque>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "gate/base/interned.hpp"
#include "gate/documents/history/history_store.hpp"

namespace holdfast::gate {

struct HistoryLine {
  Interned utc = {};
  Interned run = {};  // its id, which tells runs of one second apart; empty where it is not known
  Interned commit = {};    // git's hash, or where the tree was not committed the content's
  std::int32_t order = 0;  // the place of its commit among StoredHistory::commits, from 1 on
  Interned device_class = {};
  Interned fingerprint = {};
  Interned tools = {};      // of a count, which no processor changes; else empty
  Interned processor = {};  // timed_on() of threads that are not apart; empty where unknown
  Interned case_id = {};
  Interned variant = {};
  Interned metric = {};
  Interned branch = {};  // that was measured; empty where it is not known
  // Without a known branch: the commit at which a line of descent left that of its parent's other
  // children; empty on the longest one, and where the store knows of no other child.
  Interned aside = {};
  std::optional<Interned> verdict = {};
  bool unsound = false;  // a time or a ratio of a measurement that is not valid
  double value = 0;
  std::optional<double> mad = {};  // HistoryValue::spread()
};

using HistoryLines = std::deque<HistoryLine>;  // which grows without a second copy

struct StoredHistory {
  HistoryLines lines = {};  // by device class, the order of their commits, then by time
  // All commits of the store, in the order in which they are shown: by the time of their first run,
  // but none before its parent. At equal times their order in the store decides.
  std::vector<std::string> commits = {};
};

// Reads a store with those of its values that are `wanted`. Throws as for_each_run() does.
StoredHistory read_store(
    const std::filesystem::path& store,
    const std::function<bool(const HistorySeries&, const std::string& commit)>& wanted);

// The values alone, by default all of them.
HistoryLines read_history(
    const std::filesystem::path& store,
    const std::function<bool(const HistorySeries&, const std::string& commit)>& wanted =
        [](const HistorySeries&, const std::string&) { return true; });

// 40 runs of 10 000 metrics: how far back the last runs of a suite are looked for, in whole files,
// so that this takes no longer where the tools have changed and no run is comparable.
inline constexpr std::size_t newest_values = 400'000;

// The values of the last `runs` runs of this suite, device class and fingerprint that began before
// `now`, oldest first.
HistoryLines last_runs(const std::filesystem::path& store, const Results& now, std::size_t runs);

}  // namespace holdfast::gate
