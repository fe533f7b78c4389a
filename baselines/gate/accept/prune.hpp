// SPDX-License-Identifier: Apache-2.0
// `holdfast baseline prune`: removes entries that no list mentions any more.
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
  std::string limit_of = {};    // the case whose error limit it is; else empty
  std::string bounded_of = {};  // the case that has it as a metric with bounds only; else empty
};

// The entries and bounded metrics of `baseline` that a build no longer measures: their case is not
// in its suite's list, or their metric is not among the `metrics` of any case. A case may measure
// more than it lists. Error limits go if their case is not in the list, or not for this kind of
// device: accepting keeps those of all other cases, whatever their tier.
std::vector<Orphan> orphans(const Baseline& baseline, const List& list,
                            const std::set<std::string>& metrics);

struct PruneRequest {
  std::filesystem::path baselines = "baselines";
  std::filesystem::path lists = {};  // of the build
  std::string suite = {};            // only this one; empty: all
  std::string device_class = {};     // likewise
  bool write = false;                // else only report
};

// Throws Error(bad_input) if no baseline is of the requested suite and class.
int prune(const PruneRequest& request);

}  // namespace holdfast::gate
