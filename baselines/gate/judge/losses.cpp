// SPDX-License-Identifier: Apache-2.0
// What should be in a part and is not: listed and accepted metrics, and those whose meaning
// changed.
#include <algorithm>

#include "gate/base/numbers.hpp"
#include "gate/base/shown_text.hpp"
#include "gate/documents/verdict_names.hpp"
#include "gate/judge/merge_base.hpp"
#include "gate/judge/part_judge.hpp"
#include "gate/judge/row_sentence.hpp"

namespace holdfast::gate {

void PartJudge::look_for_lost_baseline() {
  if (!part_.lost_baseline.empty())
    missing(part_.results.suite, case_variant, "", part_.lost_baseline,
            text("git restore ", shell_word(part_.baseline_path)));
}

void PartJudge::look_for_listed(const CaseResult& result, const ListedCase& listed,
                                const std::vector<std::string>& names) {
  if (listed.reference && !result.variants.contains("reference"))
    missing(result.id, "reference", "", "the reference variant is listed and was not measured",
            part_.run_again());
  const std::vector<NamedMetric> all = named_metrics(result);
  for (const std::string& name : lost_metrics(all, names))
    missing(result.id, "optimized", name, "is listed and was not measured", part_.run_again());
  for (const char* variant : metric_variants) {
    const bool is_reference = std::string_view(variant) == "reference";
    if (is_reference && !(listed.reference && result.variants.contains("reference"))) continue;
    for (const std::string& name : names)
      if (!find_measured(all, variant, name)) look_for_bounded(result, variant, name, all);
  }
}

// A bound holds without a baseline, so a metric must not go unnoticed that only another variant has
// now: of the one that the bound names or, if it names none, of the reference.
void PartJudge::look_for_bounded(const CaseResult& result, const std::string& variant,
                                 const std::string& name, const std::vector<NamedMetric>& all) {
  const NamedMetric* other = find_measured(all, "optimized", name);
  if (!other) other = find_measured(all, case_variant, name);
  if (!other || name == "identity") return;
  const Standard standard =
      policy_.standard(result.id, part_.device_class(), variant, name, other->kind);
  if (std::ranges::any_of(standard.bounds, [&](const Rule* rule) {
        return rule->variant == variant ||
               (variant == "reference" && other->variant == "optimized");
      }))
    missing(result.id, variant, name, "has a bound and was not measured", part_.run_again());
}

// Those accepted before the change and those that it accepts itself. Of other processors too, by
// name: where nothing is accepted of this one, only they tell which times a case has.
std::vector<std::pair<std::string, const Entries*>> PartJudge::accepted_entries() const {
  std::vector<std::pair<std::string, const Entries*>> all;
  for (const auto* baseline : {&part_.baseline, &part_.proposed}) {
    if (!*baseline) continue;
    const auto own = by_processor(**baseline);
    all.insert(all.end(), own.begin(), own.end());
  }
  return all;
}

// Entries without a result. Removing them excuses nothing.
void PartJudge::look_for_lost_entries() {
  if (part_.results.partial) return;
  for (const auto& [processor, entries] : accepted_entries())
    for (const auto& [key, entry] : *entries)
      if (judged_.insert(key).second) look_for_lost(key, entry, processor);
}

void PartJudge::look_for_lost(const std::string& key, const Entry& entry,
                              const std::string& processor) {
  const EntryName name = entry_name(key);
  const std::string &case_id = name.case_id, &metric = name.metric;
  if (metric == kernels_metric || is_known_missing(case_id, metric)) return;
  const ListedCase* listed = part_.list.find(case_id);
  const std::string& tier = part_.results.tier;
  if (listed && tier_includes("gate", listed->tier) && !tier_includes(tier, listed->tier))
    return;  // a run of a smaller tier
  const std::string unit = unit_of(part_.list.metrics, metric);
  lose(name, processor,
       text("has an accepted value, ", readable(entry.value, unit),
            processor.empty() ? "" : " on " + processor),
       listed && !tier_includes("gate", listed->tier)
           ? "its case is of the tier " + listed->tier + " now"
       : part_.list.metrics.contains(metric) ? "was not measured"
                                             : "its suite does not declare the metric any more");
}

// To accept what is measured is not enough where the merge base judges it, but what is still listed
// cannot be removed, unless it is accepted no more: then another variant has it.
std::string PartJudge::next_of_lost(const EntryName& name) const {
  const ListedCase* listed = part_.list.find(name.case_id);
  const bool is_listed = listed && tier_includes("gate", listed->tier) &&
                         (name.variant != "reference" || listed->reference) &&
                         listed->has(device_kind(part_.results.env.device_name), name.metric);
  const bool is_held =
      find_entry(part_.proposed, entry_key(name.case_id, name.variant, name.metric));
  if ((is_listed && is_held) || !policy_.has_precedent()) return part_.accept_command();
  return text("say why in \"removed\" of ", part_.given.policy_file(part_.results.suite),
              is_listed ? text(", for the variant ", name.variant) : "");
}

// Reports a missing value, unless the change says why it is gone.
void PartJudge::lose(const EntryName& name, const std::string& processor, const std::string& had,
                     const std::string& how) {
  const std::string kind = device_kind(part_.results.env.device_name);
  const Removal* gone =
      policy_.removal({.case_id = name.case_id,
                       .device_class = part_.device_class(),
                       .variant = name.variant,
                       .metric = name.metric,
                       .processor = processor,
                       .tier = tier_on(kind, name.case_id, std::span(&part_.list, 1), true)});
  const std::string why = reason_of(gone, policy_.precedent());
  if (why.empty())
    return missing(name.case_id, name.variant, name.metric,
                   text(had, ", and ", how, gone ? "; 'removed' gives an old reason" : ""),
                   next_of_lost(name));
  Row row = judge_.new_row(name.case_id, name.variant, name.metric);
  row.verdict = verdict::accepted;
  row.evidence["rule"] = gone->place;
  say(row, text(had, ", and is gone; ", accepted_because(why)));
  verdict_.rows.push_back(std::move(row));
}

// A metric with only bounds has no accepted value that would show its loss once it is not listed.
void PartJudge::look_for_lost_bounds() {
  std::map<std::string, std::set<std::string>> listed;
  const std::string kind = device_kind(part_.results.env.device_name);
  for (const ListedCase& row : part_.list.cases)
    if (const auto device = row.devices.find(kind);
        device != row.devices.end() && tier_includes("gate", row.tier))
      listed[row.id].insert(device->second.begin(), device->second.end());
  std::set<std::string> told;
  for (const auto* baseline : {&part_.baseline, &part_.proposed}) {
    if (!*baseline || !(*baseline)->bounded) continue;
    for (const auto& [id, metrics] : *(*baseline)->bounded)
      for (const std::string& metric : metrics)
        if (!listed[id].contains(metric) && !is_known_missing(id, metric) &&
            told.insert(entry_key(id, case_variant, metric)).second)
          lose({.case_id = id, .variant = case_variant, .metric = metric}, "", "has bounds",
               "is listed no more");
  }
}

// A metric of another kind, unit or direction is judged by other rules, or by none.
void PartJudge::tell_changed_meanings() {
  for (const ChangedMeaning& changed : part_.changed_meanings()) {
    Row row = judge_.new_row(part_.results.suite, case_variant, changed.metric);
    row.kind = changed.listed.kind;
    row.unit = changed.listed.unit;
    row.verdict = changed.in_this_change ? verdict::accepted : verdict::fresh;
    row.blocking = !changed.in_this_change;
    if (row.blocking)
      row.next =
          policy_.has_precedent() && !part_.reasoned.contains(changed.metric)
              ? text("say why in its row of \"metrics\" in ", part_.given.policy_file("common"))
              : part_.accept_command();
    say(row, text("is ", text_of(changed.listed), ", says the list, and was accepted as ",
                  text_of(changed.accepted),
                  changed.in_this_change ? "; accepted with this change" : ""));
    verdict_.rows.push_back(std::move(row));
  }
}

bool PartJudge::is_known_missing(const std::string& case_id, const std::string& metric) const {
  return std::any_of(verdict_.rows.begin(), verdict_.rows.end(), [&](const Row& row) {
    return row.verdict == verdict::missing && row.case_id == case_id &&
           (row.metric.empty() || row.metric == metric);
  });
}

}  // namespace holdfast::gate
