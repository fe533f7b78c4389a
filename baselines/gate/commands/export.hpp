// SPDX-License-Identifier: Apache-2.0
// `holdfast export`: results in the formats of other readers.
#pragma once

#include <string>
#include <vector>

#include "gate/base/options.hpp"
#include "gate/documents/results_root.hpp"

namespace holdfast::gate {

// Google Benchmark's JSON: one row per process of each timed variant, with its counts as counters.
// Variants without a time (nothing was executed) have no row there.
nlohmann::json google_benchmark(const std::vector<StoredResults>& all);

// Bencher's metric format: every number of every variant; times as `latency` in nanoseconds, with
// the range between processes.
nlohmann::json bencher_metrics(const std::vector<StoredResults>& all);

// github-action-benchmark's customSmallerIsBetter (or, `bigger`, customBiggerIsBetter): metrics for
// which less (more) is better, as their lists say.
nlohmann::json action_benchmark(const std::vector<StoredResults>& all, const Meanings& metrics,
                                bool bigger);

// A history as Apache Otava reads it: a CSV file per case, variant and class with a row per run,
// and otava.yaml, which names them.
void export_otava(const Options& options);

}  // namespace holdfast::gate
