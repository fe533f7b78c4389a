// SPDX-License-Identifier: Apache-2.0
// What differs between two sides of a case.
#include <algorithm>
#include <set>

#include "gate/base/numbers.hpp"
#include "gate/documents/kernel_table.hpp"
#include "gate/documents/measured_part.hpp"
#include "gate/explain/explain.hpp"

namespace holdfast::gate {

bool KernelChange::has_same_cubin() const {
  return before && now && before->cubin == now->cubin && now->cubin != "-";
}

bool KernelChange::has_same_resources() const {
  return before && now && before->registers == now->registers &&
         before->spill_bytes == now->spill_bytes && before->shared_bytes == now->shared_bytes &&
         evidence_changes(before->evidence, now->evidence).empty();
}

bool KernelChange::is_identical() const {
  return has_same_resources() && before->cubin == now->cubin;
}

std::string ValueChange::words() const {
  const auto [old, young] = told_apart(before, now, unit_of_name(metric));
  return text(metric, " ", old, " -> ", young,
              before != 0 ? text(" (", percent(now / before - 1), ")") : "");
}

std::vector<KernelChange> kernel_changes(const Evidence& c) {
  std::vector<KernelChange> changes;
  if (!c.before) return changes;
  for (const auto& [variant, content] : c.result.variants) {
    const auto old = c.before->kernels.find(variant);
    const auto young = c.now.kernels.find(variant);
    if (old == c.before->kernels.end() || young == c.now.kernels.end()) continue;
    std::set<std::string> names;
    for (const auto* side : {&old->second, &young->second})
      for (const auto& [name, kernel] : *side) names.insert(name);
    for (const std::string& name : names) {
      KernelChange change{.variant = variant, .kernel = name};
      if (const auto at = old->second.find(name); at != old->second.end())
        change.before = at->second;
      if (const auto at = young->second.find(name); at != young->second.end())
        change.now = at->second;
      changes.push_back(std::move(change));
    }
  }
  return changes;
}

std::optional<ValueChange> change_of(const Evidence& c, const std::string& variant,
                                     const std::string& metric) {
  if (!c.before) return std::nullopt;
  const auto before = c.before->number(variant, metric);
  const auto now = c.now.number(variant, metric);
  if (!before || !now) return std::nullopt;
  return ValueChange{variant, metric, *before, *now};
}

std::vector<ValueChange> count_changes(const Evidence& c) {
  std::vector<ValueChange> changes;
  for (const NamedMetric& metric : named_metrics(c.result)) {
    if (metric.kind != "exact" && metric.kind != "codegen") continue;
    const auto change = change_of(c, metric.variant, metric.name);
    if (change && change->before != change->now) changes.push_back(*change);
  }
  return changes;
}

std::optional<bool> same_code(const Evidence& c, const std::string& variant) {
  if (!c.before) return std::nullopt;
  const auto before = c.before->values.find({variant, "identity"});
  const auto now = c.now.values.find({variant, "identity"});
  if (before == c.before->values.end() || now == c.now.values.end()) return std::nullopt;
  return before->second == now->second &&
         std::ranges::all_of(kernel_changes(c), [&](const KernelChange& one) {
           return one.variant != variant || !one.before || !one.now ||
                  same_arguments(one.before->evidence, one.now->evidence);
         });
}

bool same_kernels(const Evidence& c, const std::string& variant) {
  std::vector<KernelChange> changes = kernel_changes(c);
  std::erase_if(changes, [&](const KernelChange& one) { return one.variant != variant; });
  return !changes.empty() && std::ranges::all_of(changes, &KernelChange::has_same_cubin);
}

std::vector<std::string> environment_changes(const Evidence& c) {
  std::vector<std::string> changes;
  if (!c.before) return changes;
  for (const auto& [name, before] : c.before->environment)
    if (const auto now = c.now.environment.find(name);
        now != c.now.environment.end() && now->second != before)
      changes.push_back(text(name, " ", before, " -> ", now->second));
  return changes;
}

}  // namespace holdfast::gate
