// SPDX-License-Identifier: Apache-2.0
// `holdfast check`: a results root against the baselines; the gate.
#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "gate/documents/measured_part.hpp"
#include "gate/documents/results_root.hpp"
#include "gate/documents/verdict.hpp"

namespace holdfast::gate {

struct CheckRequest {
  std::filesystem::path directory;
  std::filesystem::path baselines = "baselines";
  std::filesystem::path policy = {};             // by default <baselines>/policy
  std::optional<std::string> baseline_ref = {};  // judge against the merge base with this
  bool require_baseline = false;
  bool undecided_fails = true;
  std::filesystem::path store = {};                   // the history, for the ratchet
  std::vector<std::filesystem::path> again = {};      // other runs of the same build
  std::optional<std::filesystem::path> confirm = {};  // the build to compare suspects with
  double confirm_budget_seconds = 60;                 // for each case
  double confirm_unit_seconds = 0.3;                  // of samples, from each pair of processes
  RootOptions root = {};
  bool any_content = false;  // also judge results of another content than the lists' build
  std::vector<std::string> expect = {};  // SUITE:DEVICE parts that must be there
  std::string today = {};                // YYYY-MM-DD; by default the clock's
  bool asks_what_may_be_accepted = false;

  bool whole() const { return !root.only && !root.device; }
  Given given() const;
};

struct Checked {
  Verdict verdict = {};
  std::string patch = {};  // what accepting the measurement would change in the baselines
  // The baselines' places of parts that `baseline accept` takes as they are; only if requested.
  std::set<std::string> acceptable = {};
};

Checked check(const CheckRequest& request);

}  // namespace holdfast::gate
