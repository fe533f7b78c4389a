// SPDX-License-Identifier: Apache-2.0
// What is told of a part beside the rows of its metrics: how it was measured, what it had to be
// held against, and what nothing was.
#include <algorithm>

#include "gate/base/numbers.hpp"
#include "gate/documents/verdict_names.hpp"
#include "gate/judge/part_judge.hpp"

namespace holdfast::gate {

// True where no baseline speaks about the part, or none about its times.
bool PartJudge::tell_absent_baseline() {
  const Results& results = part_.results;
  if (!part_.lost_baseline.empty()) return false;
  if (!part_.baseline && !part_.proposed) {
    verdict_.notes.push_back(
        text("NO BASELINE for ", part_.name(), " (", part_.baseline_path,
             " does not exist): everything is NEW and only the bounds hold; next: ",
             part_.accept_command()));
    return true;
  }
  if (!part_.has_other_processor() || part_.beside || !has_gated_times()) return false;
  verdict_.notes.push_back(text(
      "NO BASELINE for the processor ", timed_on(results), " of ", part_.name(), others(),
      ": times and ratios are NEW and only their bounds hold; next: ", part_.accept_command()));
  return true;
}

void PartJudge::tell_how_it_ran() {
  const Results& results = part_.results;
  if (results.partial)
    verdict_.not_checked.push_back(part_.name() +
                                   ": a filtered run, judged on what it holds and never accepted");
  if (results.run.sources)
    verdict_.notes.push_back(text(part_.name(), " ran device code from HOLDFAST_SOURCES=",
                                  *results.run.sources, ", not from the build"));
  if (results.quality.throttled.value_or(false))
    verdict_.notes.push_back(text(part_.name(), " was measured on a throttled device: its times ",
                                  "are worth little; run it again: ", part_.run_again()));
  if (part_.beside && !part_.beside->compiled_otherwise.empty())
    verdict_.notes.push_back(text("the base of ", part_.name(),
                                  " was compiled otherwise: ", part_.beside->compiled_otherwise,
                                  "; what that makes of its times counts as this change's"));
}

// True where it is, here or in the base beside it.
bool PartJudge::tell_invalid_measurement() {
  const Results& results = part_.results;
  if (results.quality.valid && !part_.has_invalid_base()) return false;
  const std::string whose = results.quality.valid ? " in the base beside it" : "";
  verdict_.notes.push_back(
      text("the measurement of ", part_.name(), whose, " is invalid (",
           listed(whose.empty() ? results.quality.reasons : part_.beside->quality.reasons, "; "),
           "): its times and ratios are not gated", whose.empty() ? "" : " against that",
           "; run it again: ", part_.run_again()));
  return true;
}

bool PartJudge::has_gated_times() const {
  for (const CaseResult& result : part_.results.cases)
    for (const NamedMetric& metric : named_metrics(result)) {
      if (!metric.measured || metric.name == kernels_metric) continue;
      const Standard standard = policy_.standard(result.id, part_.device_class(), metric.variant,
                                                 metric.name, metric.kind);
      if (standard.timed() && standard.gate != Gate::off) return true;
    }
  return false;
}

// " (accepted are those of AuthenticAMD-26-2)"
std::string PartJudge::others() const {
  std::string names;
  for (const auto* baseline : {&part_.baseline, &part_.proposed})
    if (*baseline && names.empty())
      for (const auto& [processor, entries] : (*baseline)->processors) add_to(names, processor);
  return names.empty() ? "" : text(" (accepted are those of ", names, ")");
}

// Ratios that gate, of which only a loss larger than this would have failed, or none at all.
constexpr double blind_beyond = 0.15;

void PartJudge::tell_blind() {
  for (const Row& row : verdict_.rows) {
    if (row.kind != "ratio" || (row.resolution && *row.resolution <= blind_beyond)) continue;
    if (!row.resolution && !is_held(row)) continue;
    verdict_.not_checked.push_back(text(
        row.case_id, " on ", row.device_class, ": blind: ",
        row.resolution ? text("only a loss of ", percent(*row.resolution).substr(1), " of ",
                              row.metric, " would have failed (against ", words_of(row.resolved_by))
                       : text("no loss of ", row.metric,
                              " would have failed (too few processes, or too wide a limit"),
        ")"));
  }
}

// A value that gates, against another one.
bool PartJudge::is_held(const Row& row) const {
  if (row.standard != held_against::beside && row.standard != held_against::accepted) return false;
  return row.variant != "reference" &&
         policy_.standard(row.case_id, row.device_class, row.variant, row.metric, row.kind).gate ==
             Gate::block;
}

// Rules on metrics that their cases have, and not of the variant that they name, or of no variant
// together.
void PartJudge::tell_idle_rules() {
  if (part_.results.partial || !tier_includes(part_.results.tier, "gate")) return;
  for (const Rule& rule : policy_.rules()) {
    if (rule.variant.empty() && rule.metrics.size() == 1) continue;
    bool is_meant = false, holds = false;
    for (const CaseResult& result : part_.results.cases) {
      if (result.status != "ok" || !rule.covers_case(result.id, part_.device_class())) continue;
      const auto all = [&](const auto& has) { return std::ranges::all_of(rule.metrics, has); };
      is_meant = is_meant || all([&](const std::string& metric) {
                   return judge_.is_listed(result.id, metric);
                 });
      for (const char* variant : metric_variants)
        holds = holds || ((rule.variant.empty() || rule.variant == variant) &&
                          all([&](const std::string& metric) {
                            return judged_.contains(entry_key(result.id, variant, metric));
                          }));
    }
    if (is_meant && !holds)
      verdict_.not_checked.push_back(
          text(rule.place, ": holds for nothing on ", part_.device_class(), ", where ",
               rule.variant.empty() ? "no variant" : "the variant " + rule.variant, " of ",
               rule.match, rule.variant.empty() ? " has " : " has no ", rule.metric_name()));
  }
}

void PartJudge::tell_unrequested() {
  for (const auto& [name, asking] : unrequested_) {
    const auto& [reason, option] = asking;
    std::string told = text(part_.name(), ": ", name, ": ", reason);
    // A reason that speaks of the option says itself what it lacks.
    if (reason.find(option) == std::string::npos) told += "; measure with " + option;
    verdict_.not_checked.push_back(std::move(told));
  }
}

}  // namespace holdfast::gate
