// SPDX-License-Identifier: Apache-2.0
// The policy against what suites list and how devices are called: a rule that matches nothing is an
// error.
#include <algorithm>

#include "base/names.hpp"
#include "gate/documents/case_name.hpp"
#include "gate/documents/measured_part.hpp"
#include "gate/documents/policy/policy.hpp"

namespace holdfast::gate {
namespace {

// Whether a class of `kind` (host, cuda, cuda-dry) can match the glob: decided by what stands
// before its first star, so that machines which nobody has measured yet may be meant.
bool kind_can_match(const std::string& device, const std::string& kind) {
  const std::string_view begins = kind == "host"   ? "host-"
                                  : kind == "cuda" ? "nvidia-"
                                                   : "cuda-dry-sm_";
  const std::string prefix = device.substr(0, device.find('*'));
  return prefix.starts_with(begins) || (prefix != device && begins.starts_with(prefix));
}

bool matches_something(const Scope& scope, const std::vector<List>& lists) {
  for (const List& list : lists) {
    for (const ListedCase& listed : list.cases) {
      if (!matches_glob(scope.match, listed.id)) continue;
      for (const auto& device : listed.devices) {
        const std::string& kind = device.first;
        if (!scope.device.empty() && !kind_can_match(scope.device, kind)) continue;
        if (std::ranges::all_of(
                scope.metrics, [&](const std::string& metric) { return listed.has(kind, metric); }))
          return true;
      }
    }
  }
  return false;
}

bool speaks_of_a_listed_suite(const Scope& scope, const std::vector<List>& lists) {
  const std::string suite = scope.match.substr(0, scope.match.find('/'));
  return std::any_of(lists.begin(), lists.end(),
                     [&](const List& list) { return matches_glob(suite, list.suite); });
}

void refuse_half_a_class(const std::string& device, const std::string& place) {
  if (!half_names_cuda_dry(device)) return;
  throw Error(
      Fault::bad_input,
      text(place, ": no GPU's class begins with cuda, as the device '", device,
           "' does; name cuda-dry-* or nvidia-*, with a rule for each where both are meant, "
           "or no device"));
}

// Whether a removal names classes of devices for which the baselines hold nothing of the suite.
bool is_of_retired_classes(const Removal& removal, const std::string& suite,
                           const std::vector<std::string>& baselines) {
  const std::string retired = text("devices/", removal.device, '/', suite, ".json");
  return !removal.device.empty() && std::ranges::none_of(baselines, [&](const auto& one) {
    return matches_glob(retired, one);
  });
}

// Lists do not tell which variants have a metric, nor on which processors it was accepted.
bool is_told_by_lists(const Removal& removal) {
  return removal.variant.empty() && removal.processor.empty();
}

// A removed metric must not be listed any more, except in the tier that the removal names.
void refuse_listed(const Removal& removal, const std::vector<List>& lists,
                   const std::vector<std::string>& baselines) {
  for (const List& list : lists) {
    if (is_of_retired_classes(removal, list.suite, baselines)) continue;
    for (const ListedCase& listed : list.cases) {
      if (!matches_glob(removal.match, listed.id) || listed.tier == removal.tier) continue;
      for (auto [kind, metrics] : listed.devices) {
        if (listed.limit) metrics.push_back(limited_metric);
        for (const std::string& metric : metrics)
          if ((removal.device.empty() || kind_can_match(removal.device, kind)) &&
              matches_glob(removal.metrics.front(), metric))
            throw Error(Fault::bad_input,
                        text(removal.place, ": 'removed' says that ", metric, " of ", listed.id,
                             " is gone, and its suite lists it on ", kind,
                             tier_includes("gate", listed.tier)
                                 ? ""
                                 : text(", in the tier ", listed.tier, " (\"tier\": \"",
                                        listed.tier, "\" says that it left the gate alone)"),
                             "; narrow the removal, or take it out"));
      }
    }
  }
}

// All that a baseline tells of, as what would be lost with it, in whichever tier its case is.
std::vector<LostValue> values_of(const Baseline& baseline) {
  std::vector<LostValue> values;
  const auto add = [&](const EntryName& name, const std::string& processor) {
    values.push_back({.case_id = name.case_id,
                      .device_class = baseline.device_class,
                      .variant = name.variant,
                      .metric = name.metric,
                      .processor = processor,
                      .tier = std::nullopt});
  };
  for (const auto& [processor, entries] : by_processor(baseline))
    for (const auto& [key, entry] : *entries) add(entry_name(key), processor);
  for (const auto& [id, limit] : baseline.limits) add({id, case_variant, limited_metric}, "");
  for (const auto& [id, metrics] : baseline.bounded.value_or(MetricNames()))
    for (const std::string& metric : metrics) add({id, case_variant, metric}, "");
  return values;
}

// Whether it is measured still, and not in the tier that the removal names.
bool is_listed(const LostValue& value, const Removal& removal, const std::vector<List>& lists) {
  const List* list = find_list(lists, suite_of(value.case_id));
  const ListedCase* listed = list ? list->find(value.case_id) : nullptr;
  if (!listed || listed->tier == removal.tier) return false;
  if (value.variant == "reference" && !listed->reference) return false;
  const std::string kind = kind_of_class(value.device_class);
  return value.metric == limited_metric ? listed->devices.contains(kind)
                                        : listed->has(kind, value.metric);
}

}  // namespace

std::vector<const Rule*> Policy::idle_rules(const std::vector<List>& lists, bool complete) const {
  std::vector<const Rule*> idle;
  for (const Rule& rule : rules_)
    if ((complete || speaks_of_a_listed_suite(rule, lists)) && !matches_something(rule, lists))
      idle.push_back(&rule);
  return idle;
}

void Policy::check_against(const std::vector<List>& lists, bool complete,
                           const std::vector<std::string>& baselines) const {
  const auto any = [&](const auto& test) { return std::any_of(lists.begin(), lists.end(), test); };
  // Before its rules, of which none can match.
  for (const auto& [suite, file] : files_)
    if (complete && !any([&suite = suite](const List& list) { return list.suite == suite; }))
      throw Error(Fault::bad_input,
                  text(file, ": there is no suite '", suite,
                       "' in this build; build it, or name the file after the suite whose rules it "
                       "has"));
  const auto refuse = [&](const Scope& scope, const char* what) {
    refuse_half_a_class(scope.device, scope.place);
    if ((!complete && !speaks_of_a_listed_suite(scope, lists)) || matches_something(scope, lists))
      return;
    throw Error(Fault::bad_input,
                text(scope.place, ": this ", what, " matches nothing: no suite lists ", scope.match,
                     scope.device.empty() ? "" : text(" on ", scope.device), " with the metric ",
                     scope.metric_name(), "; mend or remove it"));
  };
  for (const Rule& rule : rules_) refuse(rule, "rule");
  for (const Waiver& waiver : waivers_) refuse(waiver, "waiver");
  for (const Removal& removal : removals_) {
    refuse_half_a_class(removal.device, removal.place);
    if (is_told_by_lists(removal)) refuse_listed(removal, lists, baselines);
  }
  for (const Absence& absence : absences_) refuse_half_a_class(absence.device, absence.place);
  if (!complete) return;
  for (const auto& [metric, row] : rows_)
    if (!any([&metric = metric](const List& list) { return list.metrics.contains(metric); }))
      throw Error(Fault::bad_input, text(row.said.place, ": no suite lists the metric ", metric,
                                         "; mend or remove its row"));
}

void Policy::refuse_held(const std::vector<List>& lists,
                         const std::map<std::string, Baseline>& baselines) const {
  std::vector<Removal> removals = removals_;
  std::erase_if(removals, is_told_by_lists);
  if (removals.empty()) return;
  for (const auto& [place, baseline] : baselines)
    for (const LostValue& held : values_of(baseline))
      for (const Removal& removal : removals)
        if (removal.covers(held) && is_listed(held, removal, lists))
          throw Error(Fault::bad_input,
                      text(removal.place, ": 'removed' says that ", held.metric, " of ",
                           held.case_id, ' ', held.variant, " is gone, and ", place, " holds it",
                           held.processor.empty() ? "" : " of " + held.processor,
                           ": take one of them out"));
}

}  // namespace holdfast::gate
