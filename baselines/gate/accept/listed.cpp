// SPDX-License-Identifier: Apache-2.0
#include "gate/accept/listed.hpp"

#include "gate/accept/entry_of_runs.hpp"
#include "gate/documents/measured_part.hpp"
#include "gate/documents/verdict_names.hpp"
#include "gate/judge/bounded.hpp"
#include "gate/judge/loosening.hpp"

namespace holdfast::gate {
namespace {

void accept_limits(const Results& results, const List& list, const Entries& known,
                   const std::string& why, Acceptable& accepted) {
  const auto key = [](const std::string& id) { return entry_key(id, case_variant, "limit"); };
  Entries& limits = accepted.baseline.limits;
  for (const ListedCase& listed : list.cases) {
    if (!listed.limit || !listed.devices.contains(device_kind(results.env.device_name))) continue;
    const auto before = known.find(listed.id);
    if (before != known.end() && before->second.value == Value(*listed.limit)) {
      limits[listed.id] = before->second;
      continue;
    }
    Entry& limit = limits[listed.id] =
        counted_entry(*listed.limit, results, why.empty() ? unasked::as_listed : why);
    if (before == known.end()) continue;
    limit.accepted.previous = before->second.value;
    accepted.changes.push_back(
        {.key = key(listed.id),
         .before = before->second.value,
         .after = limit.value,
         .asks_why = *listed.limit > std::get<double>(before->second.value) ? "worse" : ""});
  }
  for (const auto& [id, entry] : known)
    if (!limits.contains(id))
      accepted.changes.push_back({.key = key(id), .before = entry.value, .asks_why = "removed"});
}

void accept_bounded(const Results& results, const List& list, const Policy& policy,
                    const std::optional<MetricNames>& known, Acceptable& accepted) {
  MetricNames& bounded = accepted.baseline.bounded.emplace();
  MetricNames all;
  for (const ListedCase& listed : list.cases) {
    const auto device = listed.devices.find(device_kind(results.env.device_name));
    if (device == listed.devices.end() || !tier_includes("gate", listed.tier)) continue;
    for (const std::string& metric : device->second) {
      all[listed.id].insert(metric);
      if (is_bounded_alone(policy, listed.id, results.env.device_class, metric,
                           list.metrics.at(metric).kind))
        bounded[listed.id].insert(metric);
    }
  }
  if (!known) return;
  for (const auto& [id, metrics] : *known)
    for (const std::string& metric : metrics)
      if (!all[id].contains(metric))
        accepted.changes.push_back({.key = entry_key(id, case_variant, metric),
                                    .before = Value("bounded"),
                                    .asks_why = "removed"});
}

}  // namespace

void accept_listed(const Results& results, const List& list, const Policy& policy,
                   const std::optional<Baseline>& existing, const std::string& why,
                   Acceptable& accepted) {
  accept_limits(results, list, existing ? existing->limits : Entries(), why, accepted);
  accept_bounded(results, list, policy, existing ? existing->bounded : std::nullopt, accepted);
}

}  // namespace holdfast::gate
