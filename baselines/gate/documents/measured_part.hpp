// SPDX-License-Identifier: Apache-2.0
// A part: one suite measured on one device class, with the list that it promised and the baseline
// it is held against.
#pragma once

#include <array>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "gate/documents/again.hpp"
#include "gate/documents/baseline.hpp"
#include "gate/documents/beside.hpp"
#include "gate/documents/list.hpp"
#include "gate/documents/meaning.hpp"
#include "gate/documents/measured.hpp"
#include "gate/documents/results.hpp"

namespace holdfast::gate {

// A metric whose meaning in the list differs from the accepted one.
struct ChangedMeaning {
  std::string metric;
  Meaning accepted;
  Meaning listed;
  bool in_this_change = false;  // which accepts the listed one
};

// The caller's options that are not the default, for the commands that are proposed.
struct Given {
  std::optional<std::filesystem::path> baselines = {}, policy = {}, lists = {};
  std::optional<std::filesystem::path> base = {};  // the build that a run has beside it

  std::string judging() const;    // " --baselines=B --policy=P --lists=L"
  std::string measuring() const;  // " --bin-dir=L --beside=BUILD --baselines=B"
  std::string policy_file(const std::string& name) const;  // "baselines/policy/common.json"
};

struct Part {
  Results results;
  List list;
  // The view that judges the run. Empty: nothing accepted yet for this device class and suite.
  std::optional<Baseline> baseline = {};
  // The working copy's baseline, where `baseline` is the merge base's: what the change set itself
  // accepts.
  std::optional<Baseline> proposed = {};
  // The base's side of the same run, if times and ratios are compared with it.
  std::optional<Beside> beside = {};
  // Metrics whose changed meaning the change's policy gives a reason for.
  std::set<std::string> reasoned = {};
  std::set<std::string> reasons_before = {};  // reasons in the merge base's baseline
  // Why the baseline's file should be there when it is not: git's index has it, or a link.
  std::string lost_baseline = {};
  std::string directory = {};  // the results root, for the commands that sentences propose
  Given given = {};            // for those commands as well
  bool is_alone = true;        // the only part of that root
  MeasuredAgain again = {};    // measurements by other runs of the build
  // Whether `holdfast baseline accept` takes the part, given a reason; empty: it does.
  std::function<bool()> may_be_accepted = {};
  std::string baseline_path = {};  // for sentences

  const std::string& device_class() const { return results.env.device_class; }
  // The meanings that its metrics are judged by: the accepted ones, if any. A list that says
  // otherwise is a change, to be accepted.
  Meanings metrics() const;
  std::vector<ChangedMeaning> changed_meanings() const;
  // Whether its base was measured, but not validly.
  bool has_invalid_base() const { return beside && !beside->quality.valid; }
  // Whether it is a host without an accepted time or ratio for its processor, before the change or
  // with it.
  bool has_other_processor() const;
  std::string name() const;       // "toy on cuda-dry-sm_90"
  std::string run_again() const;  // the command that measures this part
  std::string explain_command(const std::string& case_id) const;
  // The command that accepts it, with `more` options; if that would be refused, the one that
  // measures what can be accepted.
  std::string accept_command(const std::string& more = "") const;
};

inline constexpr const char* case_variant =
    "case";  // the variant of metrics of the case as a whole
// All variants that a rule may name.
inline constexpr std::array metric_variants = {"optimized", "reference", case_variant};
// What the limit of a case's result holds.
inline constexpr const char* limited_metric = "check_error";
inline constexpr const char* kernels_metric =
    "kernels";  // a compact table of the kernels: evidence, never judged

// Of a step, counted apart from the timed processes.
inline constexpr const char* instructions_metric = "instructions";
inline constexpr const char* cycles_metric = "estimated_cycles";
inline constexpr std::array counted_metrics = {instructions_metric, cycles_metric};

// How far apart the processors of a host's threads stand: a control. It fails nothing itself; if it
// grew by more than half, the times and ratios of its case decide nothing.
inline constexpr const char* handover_metric = "handover_s";
inline constexpr double further_apart = 1.5;
// Seconds: a longer hand-over waits for the scheduler, and does not show how far apart processors
// stand.
inline constexpr double longest_handover = 10e-6;

// The share of a case's samples that others slowed from the other halves of its cores, where too
// few processes had cores of their own to use those alone.
inline constexpr const char* shared_metric = "shared_fraction";
bool had_shared_cores(const CaseResult& result);

// A metric of a case with the variant that it belongs to. Identity and the kernel table are among
// them.
struct NamedMetric {
  std::string variant;
  std::string name;
  std::string kind;
  std::optional<Measured> measured = {};  // empty: the device could not give it
  std::string reason = {};                // why not
};
std::vector<NamedMetric> named_metrics(const CaseResult& result);

// The metric of that variant and name among `all`, if it was measured.
const NamedMetric* find_measured(const std::vector<NamedMetric>& all, const std::string& variant,
                                 const std::string& name);

// Whether the error of a result is beyond the oracle's limit.
bool is_beyond(const ResultCheck& check);

// Whether the result of a case is wrong or, on a device that executes, was not verified.
bool is_wrong(const CaseResult& result, const std::string& device_name);

// The cases of the gate tier that are listed for the device of these results, and that the run left
// out, as a filtered one does, or that did not end well.
std::set<std::string> unmeasured_cases(const Results& results, const List& list);

// The listed metrics that neither the case nor its optimized variant has.
std::vector<std::string> lost_metrics(const std::vector<NamedMetric>& all,
                                      const std::vector<std::string>& listed);

}  // namespace holdfast::gate
