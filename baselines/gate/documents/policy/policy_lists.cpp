// SPDX-License-Identifier: Apache-2.0
// The policy against what suites list and how devices are called: a rule that matches nothing is an
// error.
#include <algorithm>

#include "base/names.hpp"
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

// A removed metric must not be listed any more, except in a tier that no baseline holds.
void refuse_listed(const Removal& removal, const std::vector<List>& lists,
                   const std::vector<std::string>& baselines) {
  for (const List& list : lists) {
    if (is_of_retired_classes(removal, list.suite, baselines)) continue;
    for (const ListedCase& listed : list.cases) {
      if (!matches_glob(removal.match, listed.id) || !tier_includes("gate", listed.tier)) continue;
      if (removal.variant == "reference" && !listed.reference) continue;
      for (const auto& [kind, metrics] : listed.devices)
        for (const std::string& metric : metrics)
          if ((removal.device.empty() || kind_can_match(removal.device, kind)) &&
              matches_glob(removal.metrics.front(), metric))
            throw Error(Fault::bad_input,
                        text(removal.place, ": 'removed' says that ", metric, " of ", listed.id,
                             " is gone, and its suite lists it on ", kind,
                             "; narrow the removal, or take it out"));
    }
  }
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
    refuse_listed(removal, lists, baselines);
  }
  for (const Absence& absence : absences_) refuse_half_a_class(absence.device, absence.place);
  if (!complete) return;
  for (const auto& [metric, row] : rows_)
    if (!any([&metric = metric](const List& list) { return list.metrics.contains(metric); }))
      throw Error(Fault::bad_input, text(row.said.place, ": no suite lists the metric ", metric,
                                         "; mend or remove its row"));
}

}  // namespace holdfast::gate
