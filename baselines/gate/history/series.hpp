// SPDX-License-Identifier: Apache-2.0
// The history as values: one line per case, variant and metric of every recorded run.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "gate/base/interned.hpp"
#include "gate/documents/history_store.hpp"

namespace holdfast::gate {

struct HistoryLine {
  Interned utc = {};
  Interned commit = {};    // git's hash, or where the tree was not committed the content's
  std::int64_t order = 0;  // counts commits in the order in which they came into the store
  Interned device_class = {};
  Interned fingerprint = {};
  Interned case_id = {};
  Interned variant = {};
  Interned metric = {};
  double value = 0;
  std::optional<double> mad = {};  // between processes
  std::optional<Interned> verdict = {};
};

// The values of a store that are `wanted` (by default all), sorted by order and time. A commit that
// came in twice, as where two machines appended at once, has the least of its orders. Throws as
// for_each_run() does.
std::vector<HistoryLine> read_history(
    const std::filesystem::path& store,
    const std::function<bool(const HistorySeries&, const std::string& commit)>& wanted =
        [](const HistorySeries&, const std::string&) { return true; });

// 40 runs of 10 000 metrics: how far back the last runs of a suite are looked for, in whole files,
// so that this takes no longer where the tools have changed and no run is comparable.
inline constexpr std::size_t newest_values = 400'000;

// The values of the last `runs` runs of this suite, device class and fingerprint that began before
// `now`, oldest first.
std::vector<HistoryLine> last_runs(const std::filesystem::path& store, const Results& now,
                                   std::size_t runs);

}  // namespace holdfast::gate
