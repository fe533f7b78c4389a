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
#include "gate/documents/results.hpp"
#include "gate/documents/verdict_names.hpp"

namespace holdfast::gate {

// A metric that the list calls something else than what was accepted.
struct ChangedMeaning {
  std::string metric;
  Meaning accepted;
  Meaning listed;
  bool in_this_change = false;  // which accepts it as it is listed
};

// What the caller of a command gave that is not the default, for the commands that it proposes.
struct Given {
  std::optional<std::filesystem::path> baselines = {}, policy = {}, lists = {};
  std::optional<std::filesystem::path> base = {};  // the build that a run has beside it

  std::string judging() const;    // " --baselines=B --policy=P --lists=L"
  std::string measuring() const;  // " --bin-dir=L --beside=BUILD --baselines=B"
};

struct Part {
  Results results;
  List list;
  // As the processor sees it. Empty: nothing accepted yet for this device class and suite.
  std::optional<Baseline> baseline = {};
  // The working copy's baseline, where `baseline` is the merge base's: what the change set itself
  // accepts.
  std::optional<Baseline> proposed = {};
  // What another build had in the same run, where times and ratios are held against that.
  std::optional<Beside> beside = {};
  // Metrics of which the change's policy says why they are something else than before.
  std::set<std::string> reasoned = {};
  std::set<std::string> reasons_before = {};  // that the merge base's baseline gives
  // Why the baseline's file ought to be there, where it is not: git's index has it, or a link.
  std::string lost_baseline = {};
  std::string directory = {};  // the results root, for the commands that sentences propose
  Given given = {};            // for them as well
  bool is_alone = true;        // in that root
  MeasuredAgain again = {};    // by other runs of the build
  // Whether `holdfast baseline accept` takes it, with a reason; empty: it does.
  std::function<bool()> may_be_accepted = {};
  std::string baseline_path = {};  // for sentences

  const std::string& device_class() const { return results.env.device_class; }
  // What its metrics are judged as: as they were accepted, where they were. A list that says
  // otherwise is a change, to be accepted.
  Meanings metrics() const;
  std::vector<ChangedMeaning> changed_meanings() const;
  // Whether what is beside it was measured in vain.
  bool has_invalid_base() const { return beside && !beside->quality.valid; }
  // A host on whose processor no time and no ratio is accepted yet, before the change or with it.
  bool has_other_processor() const;
  std::string name() const;       // "toy on cuda-dry-sm_90"
  std::string run_again() const;  // the command that measures this part
  std::string explain_command(const std::string& case_id) const;
  // The command that accepts it, with `more` options; of what would be refused, the one that
  // measures what can be.
  std::string accept_command(const std::string& more = "") const;
};

// Of a case, where nobody asks for more.
inline constexpr std::int64_t most_unasked_processes = 16;

inline constexpr const char* case_variant =
    "case";  // the variant of metrics of the case as a whole
// All whose metrics a rule may speak of.
inline constexpr std::array metric_variants = {"optimized", "reference", case_variant};
inline constexpr const char* kernels_metric =
    "kernels";  // a compact table of the kernels: evidence, never judged

inline constexpr const char* instructions_metric = "instructions";  // of a step, counted apart

// How far apart the processors stand that a host's threads run on: a control. It fails nothing
// itself, and where it grew by more than half, the times and ratios beside it decide nothing.
inline constexpr const char* handover_metric = "handover_s";
inline constexpr double further_apart = 1.5;
// Seconds: one that waits for the scheduler tells nothing of how far processors stand apart.
inline constexpr double longest_handover = 10e-6;

// The share of a case's samples that somebody slowed from a core's other half, where too few
// processes had cores of their own to do without those that had not.
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

// Whether the result of a case is wrong; where a device executes, one that was not verified counts
// as little.
bool is_wrong(const CaseResult& result, const std::string& device_name);

// The listed metrics that neither the case nor its optimized variant has.
std::vector<std::string> lost_metrics(const std::vector<NamedMetric>& all,
                                      const std::vector<std::string>& listed);

}  // namespace holdfast::gate
