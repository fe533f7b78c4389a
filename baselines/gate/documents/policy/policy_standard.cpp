// SPDX-License-Identifier: Apache-2.0
// What the policy says about one metric: its kind, its row, then the rules in their order.
#include <algorithm>

#include "gate/base/numbers.hpp"
#include "gate/documents/policy/policy.hpp"
#include "gate/documents/results.hpp"

namespace holdfast::gate {
namespace {

// "FILE:LINE: tolerance 2 %, at most 206.6 MB (its formula), gate warn".
std::string told(const Rule& rule, const std::string& unit) {
  std::string said;
  if (rule.tolerance) said += text(", tolerance ", 100 * *rule.tolerance, " %");
  if (rule.bound) {
    if (rule.bound->min) said += text(", at least ", readable(*rule.bound->min, unit));
    if (rule.bound->max) said += text(", at most ", readable(*rule.bound->max, unit));
    said += text(" (", rule.bound->source, ")");
  }
  if (rule.gate) said += text(", gate ", name_of(*rule.gate));
  return text(rule.place, ": ", said.substr(2));
}

std::string told(const Waiver& waiver) {
  return text(waiver.place, ": waived until ", waiver.until, ": ", waiver.why);
}

void take(const KindRow& kind, const std::string& variant, bool on_host, Standard& standard) {
  standard.gate = kind.gate;
  standard.tolerance = on_host ? kind.host_tolerance.value_or(kind.tolerance) : kind.tolerance;
  standard.same = kind.same;
  standard.two_sided = std::ranges::count(kind.two_sided, variant) > 0;
  standard.drift_blocks = kind.drift_blocks;
  for (const char* what : {"gate", "tolerance", "versions", "both ways", "drift", "patch tolerance",
                           "on request", "impossible above", "falls"})
    standard.said[what] = kind.said;
}

void take(const MetricRow& row, Standard& standard) {
  standard.gate = row.gate.value_or(standard.gate);
  standard.tolerance = row.tolerance.value_or(standard.tolerance);
  standard.patch_tolerance = row.patch_tolerance;
  standard.on_request = row.on_request;
  standard.same = row.same.value_or(standard.same);
  standard.impossible_above = row.impossible_above;
  standard.fall_is_change = row.fall_is_change;
  for (const char* what : {"patch tolerance", "on request", "impossible above", "falls"})
    standard.said[what] = row.said;
  if (row.gate) standard.said["gate"] = row.said;
  if (row.tolerance) standard.said["tolerance"] = row.said;
  if (row.same) standard.said["versions"] = row.said;
}

void take(const Rule& rule, Standard& standard) {
  if (rule.tolerance) {
    standard.tolerance = *rule.tolerance;
    standard.own_tolerance = true;
    standard.said["tolerance"] = {rule.place, rule.why};
  }
  if (rule.bound) {
    standard.bounds.push_back(&rule);
  } else if (rule.gate) {
    standard.own_gate = true;
    standard.gate = *rule.gate;  // in a rule with a bound, the gate concerns the bound alone
    standard.said["gate"] = {rule.place, rule.why};
  }
  standard.sources.push_back(told(rule, standard.unit));
  if (rule.tolerance || !rule.bound) standard.set_by = standard.sources.back();
}

// What kind and row set, in sentences.
std::vector<std::string> told(const Standard& standard) {
  std::vector<std::string> said = {text("kind ", standard.kind, ": gate ", name_of(standard.gate),
                                        ", tolerance ", 100 * standard.tolerance, " %",
                                        standard.two_sided ? ", both ways" : "")};
  if (standard.patch_tolerance)
    said.push_back(text("between patch levels of one compiler: tolerance ",
                        100 * *standard.patch_tolerance, " %"));
  if (!standard.on_request.empty())
    said.push_back(text("measured where ", standard.on_request, " asks for it"));
  const std::string beside = listed(standard.fall_is_change);
  if (beside == "*")
    said.push_back("a fall is CHANGED, and accepted with a reason");
  else if (!beside.empty())
    said.push_back(text("a fall is CHANGED beside a worsening of ", beside));
  return said;
}

}  // namespace

Standard Policy::own_standard(const std::string& case_id, const std::string& device_class,
                              const std::string& variant, const std::string& metric,
                              const std::string& declared_kind) const {
  Standard standard{.kind = declared_kind};
  const auto known = metrics_.find(metric);
  if (known != metrics_.end()) {
    standard.kind = known->second.kind;
    standard.better = known->second.better;
    standard.unit = known->second.unit;
  }
  const auto kind = kinds_.find(standard.kind);
  if (kind == kinds_.end() || (known == metrics_.end() && standard.kind != "advisory"))
    throw Error(Fault::bad_input,
                text("the metric ", metric, " of ", case_id, " (", declared_kind,
                     ") is not among the 'metrics' of its suite's list; declare it in the suite, "
                     "with its kind, its unit and which way is better"));
  take(kind->second, variant, is_host_class(device_class), standard);
  if (const auto row = rows_.find(metric); row != rows_.end()) take(row->second, standard);
  standard.sources = told(standard);
  const auto covers = [&](const Scope& scope) {
    return scope.metrics.size() == 1 && scope.metrics.front() == metric &&
           (scope.variant.empty() || scope.variant == variant) &&
           scope.covers_case(case_id, device_class);
  };
  for (const Rule& rule : rules_)
    if (covers(rule)) take(rule, standard);
  for (const Waiver& waiver : waivers_) {
    if (!covers(waiver)) continue;
    standard.waiver = &waiver;
    standard.sources.push_back(told(waiver));
  }
  return standard;
}

std::vector<const Scope*> Policy::scopes(const std::string& case_id,
                                         const std::string& device_class) const {
  std::vector<const Scope*> found;
  for (const Rule& rule : rules_)
    if (rule.covers_case(case_id, device_class)) found.push_back(&rule);
  for (const Waiver& waiver : waivers_)
    if (waiver.covers_case(case_id, device_class)) found.push_back(&waiver);
  return found;
}

std::vector<Sum> Policy::own_sums(const std::string& case_id, const std::string& device_class,
                                  const std::string& variant) const {
  const auto covers = [&](const Scope& scope) {
    return (scope.variant.empty() || scope.variant == variant) &&
           scope.covers_case(case_id, device_class);
  };
  std::vector<Sum> found;
  for (const Rule& rule : rules_) {
    if (rule.metrics.size() == 1 || !covers(rule)) continue;
    auto sum = std::find_if(found.begin(), found.end(),
                            [&](const Sum& one) { return one.metrics == rule.metrics; });
    if (sum == found.end()) {
      sum = found.insert(sum, {.name = rule.metric_name(), .metrics = rule.metrics});
      if (const auto part = metrics_.find(rule.metrics.back()); part != metrics_.end())
        sum->standard.unit = part->second.unit;  // as the sum is judged
    }
    sum->standard.bounds.push_back(&rule);
    sum->standard.sources.push_back(told(rule, sum->standard.unit));
  }
  for (const Waiver& waiver : waivers_)
    for (Sum& sum : found) {
      if (sum.metrics != waiver.metrics || !covers(waiver)) continue;
      sum.standard.waiver = &waiver;
      sum.standard.sources.push_back(told(waiver));
    }
  return found;
}

}  // namespace holdfast::gate
