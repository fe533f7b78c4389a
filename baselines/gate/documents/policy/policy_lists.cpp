// SPDX-License-Identifier: Apache-2.0
// The policy against what suites list and how devices are called: a rule that matches nothing is an
// error.
#include <algorithm>
#include <array>

#include "base/names.hpp"
#include "gate/documents/case_name.hpp"
#include "gate/documents/measured_part.hpp"
#include "gate/documents/policy/policy.hpp"

namespace holdfast::gate {
namespace {

// Whether a device has no star, so that it is a whole name, and no class is called so.
bool names_no_class(const std::string& device) {
  return !device.empty() && device.find('*') == device.npos && !is_device_class(device);
}

// Whether a class of `kind` (host, cuda, cuda-dry) can match the glob: decided by what stands
// before its first star, so that machines which nobody has measured yet may be meant. Without a
// star it is the name of a class.
bool kind_can_match(const std::string& device, const std::string& kind) {
  if (device.find('*') == device.npos)
    return !names_no_class(device) && kind_of_class(device) == kind;
  const std::string_view begins = kind == "host"   ? "host-"
                                  : kind == "cuda" ? "nvidia-"
                                                   : "cuda-dry-sm_";
  const std::string prefix = device.substr(0, device.find('*'));
  return prefix.starts_with(begins) || (prefix != device && begins.starts_with(prefix));
}

bool covers(const Scope& scope, const ListedCase& listed, const std::string& kind) {
  return matches_glob(scope.match, listed.id) &&
         (scope.device.empty() || kind_can_match(scope.device, kind));
}

// Whether a listed case has all its metrics on a kind of devices, and `more(list, case, kind)`
// holds there.
template <class More>
bool matches_something(const Scope& scope, const std::vector<List>& lists, const More& more) {
  for (const List& list : lists)
    for (const ListedCase& listed : list.cases)
      for (const auto& device : listed.devices) {
        const std::string& kind = device.first;
        const auto has = [&](const std::string& metric) { return listed.has(kind, metric); };
        if (covers(scope, listed, kind) && std::ranges::all_of(scope.metrics, has) &&
            more(list, listed, kind))
          return true;
      }
  return false;
}

bool matches_something(const Scope& scope, const std::vector<List>& lists) {
  return matches_something(scope, lists, [](const auto&...) { return true; });
}

// Whether it is held against an accepted value, as its gate and its tolerance say.
bool is_held(const List& list, const std::string& metric) {
  const auto meaning = list.metrics.find(metric);
  return meaning != list.metrics.end() && Standard{.kind = meaning->second.kind}.stored();
}

// A hash, of which no number tells how far it moved.
constexpr const char* text_metric = "identity";

// A rule that matches something, and could never act there.
void refuse_powerless(const Rule& rule, const std::vector<List>& lists) {
  const auto refuse = [&](const std::string& why) {
    throw Error(Fault::bad_input, text(rule.place, ": ", why, "; mend or remove it"));
  };
  const bool is_text = std::ranges::count(rule.metrics, text_metric) > 0;
  if (is_text && (rule.bound || rule.tolerance))
    refuse(text("this rule holds nothing: ", text_metric, " is text, which has no ",
                rule.bound ? "bound" : "tolerance"));
  if (rule.bound && !rule.tolerance) return;
  const std::string& metric = rule.metrics.front();
  if (!matches_something(rule, lists,
                         [&](const List& list, const auto&...) { return is_held(list, metric); }))
    refuse(text("the ", rule.tolerance ? "tolerance" : "gate", " of this rule holds nothing: no ",
                metric, " that it matches is held against an accepted value, only against bounds"));
}

// A waiver of a sum excuses bounds on that sum, in the same order.
void refuse_powerless(const Waiver& waiver, const std::vector<Rule>& rules,
                      const std::vector<List>& lists) {
  if (waiver.metrics.size() == 1) return;
  std::string meant;
  for (const Rule& rule : rules) {
    const bool meets =
        (rule.variant.empty() || waiver.variant.empty() || rule.variant == waiver.variant) &&
        matches_something(waiver, lists, [&](const List&, const auto& listed, const auto& kind) {
          return covers(rule, listed, kind);
        });
    if (!meets || !std::ranges::is_permutation(rule.metrics, waiver.metrics)) continue;
    if (rule.metrics == waiver.metrics) return;
    meant = rule.metric_name();
  }
  throw Error(Fault::bad_input,
              text(waiver.place, ": this waiver excuses nothing: no rule bounds the sum ",
                   waiver.metric_name(), meant.empty() ? " there" : ", but one bounds " + meant,
                   "; mend or remove it"));
}

// A row says nothing of a metric that no suite holds against an accepted value, and of a fall
// beside a metric that no suite has.
void refuse_powerless(const std::string& metric, const MetricRow& row,
                      const std::vector<List>& lists) {
  const auto in_a_list = [&](const auto& test) { return std::ranges::any_of(lists, test); };
  const auto refuse = [&](const std::string& why) {
    throw Error(Fault::bad_input, text(row.said.place, ": ", why, "; mend or remove it"));
  };
  if ((row.gate || row.tolerance || row.patch_tolerance || row.same ||
       !row.fall_is_change.empty()) &&
      !in_a_list([&](const List& list) { return is_held(list, metric); }))
    refuse(text("the row of ", metric,
                " holds nothing: no suite holds the metric against an accepted value"));
  for (const std::string& beside : row.fall_is_change)
    if (beside != "*" &&
        !in_a_list([&](const List& list) { return list.metrics.contains(beside); }))
      refuse(text("'fall_is_change' of ", metric, " names ", beside,
                  ", a metric that no suite lists"));
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

void refuse_no_class(const std::string& device, const std::string& place) {
  refuse_half_a_class(device, place);
  const auto can_match = [&](const char* kind) { return kind_can_match(device, kind); };
  if (device.empty() || std::ranges::any_of(std::array{"host", "cuda", "cuda-dry"}, can_match))
    return;
  throw Error(Fault::bad_input, text(place, ": no class is called like the device '", device,
                                     "', but as host-x86_64-v4-2t, cuda-dry-sm_90 or nvidia-h200"));
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
    if ((complete || speaks_of_a_listed_suite(rule, lists)) && !names_no_class(rule.device) &&
        !matches_something(rule, lists))
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
  // Whether it matches something; what matches nothing may be of a suite that is not here.
  const auto matches = [&](const Scope& scope, const char* what) {
    refuse_half_a_class(scope.device, scope.place);
    if (matches_something(scope, lists)) return true;
    if (!complete && !speaks_of_a_listed_suite(scope, lists)) return false;
    throw Error(Fault::bad_input,
                text(scope.place, ": this ", what, " matches nothing: no suite lists ", scope.match,
                     scope.device.empty() ? "" : text(" on ", scope.device), " with the metric ",
                     scope.metric_name(), "; mend or remove it"));
  };
  for (const Rule& rule : rules_)
    if (matches(rule, "rule")) refuse_powerless(rule, lists);
  for (const Waiver& waiver : waivers_)
    if (matches(waiver, "waiver")) refuse_powerless(waiver, rules_, lists);
  for (const Removal& removal : removals_) {
    refuse_no_class(removal.device, removal.place);
    if (is_told_by_lists(removal)) refuse_listed(removal, lists, baselines);
  }
  for (const Absence& absence : absences_) refuse_no_class(absence.device, absence.place);
  if (!complete) return;
  for (const auto& [metric, row] : rows_) {
    if (!any([&metric = metric](const List& list) { return list.metrics.contains(metric); }))
      throw Error(Fault::bad_input, text(row.said.place, ": no suite lists the metric ", metric,
                                         "; mend or remove its row"));
    refuse_powerless(metric, row, lists);
  }
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
