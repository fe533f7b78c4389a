// SPDX-License-Identifier: Apache-2.0
// `holdfast baseline prune`: entries that no list speaks of any more go.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "gate/documents/baseline.hpp"
#include "gate/documents/list.hpp"

namespace holdfast::gate {

struct Orphan {
  std::string key;
  std::string why;              // what is gone: the case, or the metric
  std::string processor = {};   // of a host's time or ratio; else empty
  std::string limit_of = {};    // the case whose limit of the error it is; else empty
  std::string bounded_of = {};  // the case of which it is a metric with bounds alone; else empty
};

// The entries and bounded metrics of `baseline` that a build measures no more: their case is not in
// its suite's list, or their metric is not among the `metrics` that any case has. A case may read
// more than it lists. Limits of the error go where their case is not in the list, or not for this
// kind of device: accepting keeps those of every other case, whatever its tier.
std::vector<Orphan> orphans(const Baseline& baseline, const List& list,
                            const std::set<std::string>& metrics);

struct PruneRequest {
  std::filesystem::path baselines = "baselines";
  std::filesystem::path lists = {};  // of the build
  std::string suite = {};            // that one alone; empty: all
  std::string device_class = {};     // likewise
  bool write = false;                // otherwise only told
};

// Throws Error(bad_input) where no baseline is of the suite and the class that are asked for.
int prune(const PruneRequest& request);

}  // namespace holdfast::gate
