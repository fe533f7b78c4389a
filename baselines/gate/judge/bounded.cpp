// SPDX-License-Identifier: Apache-2.0
#include "gate/judge/bounded.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "base/names.hpp"
#include "gate/documents/case_name.hpp"
#include "gate/documents/measured_part.hpp"
#include "gate/judge/loosening.hpp"

namespace holdfast::gate {
namespace {

class Losses {
 public:
  Losses(const MergeBase& base, const ChangeSet& change) : base_(base), change_(change) {}

  std::vector<RuleChange> run() {
    for (const auto& [place, baseline] : base_.baselines)
      if (baseline.bounded) look_at(place, baseline.device_class, *baseline.bounded);
    std::vector<RuleChange> rows;
    for (const auto& [what, metrics] : lost_) {
      const auto& [rule, how, why] = what;
      rows.push_back({.rule = rule,
                      .before = "bounds of " + metrics,
                      .after = how,
                      .why = why,
                      .loosens = true});
    }
    return rows;
  }

 private:
  const MergeBase& base_;
  const ChangeSet& change_;
  // Metrics by rule, how they are lost, and why.
  std::map<std::tuple<std::string, std::string, std::string>, std::string> lost_ = {};

  void look_at(const std::string& place, const std::string& device_class,
               const MetricNames& bounded) {
    for (const auto& [old_id, metrics] : bounded) {
      const std::string id = present_name(base_, change_.aliases, old_id);
      for (const std::string& metric : metrics) {
        const std::string how = how_lost(place, device_class, id, metric);
        if (how.empty()) continue;
        const Removal* gone = change_.policy.removal(
            {.case_id = id,
             .device_class = device_class,
             .variant = case_variant,
             .metric = metric,
             .tier = tier_on(kind_of_class(device_class), id, change_.lists, change_.complete)});
        add_to(lost_[{text(id, " on ", device_class), how, reason_of(gone, base_.policy.get())}],
               metric);
      }
    }
  }

  std::string how_lost(const std::string& place, const std::string& device_class,
                       const std::string& id, const std::string& metric) const {
    const List* list = find_list(change_.lists, suite_of(id));
    if (!list) return change_.complete ? "no such suite" : "";
    const ListedCase* listed = list->find(id);
    const bool is_measured = change_.measured.contains(place);
    if (!listed) return is_measured ? "" : "no such case";
    if (!tier_includes("gate", listed->tier))
      return is_measured ? "" : text("of the tier ", listed->tier, ", which does not gate");
    if (!listed->has(kind_of_class(device_class), metric))
      return is_measured ? "" : "listed no more";
    return is_kept(place, id, metric) ||
                   !is_bounded_alone(change_.policy.with(list->metrics), id, device_class, metric,
                                     list->metrics.at(metric).kind)
               ? ""
               : "taken out of the baseline";
  }

  bool is_kept(const std::string& place, const std::string& id, const std::string& metric) const {
    const auto now = change_.baselines.find(place);
    if (now == change_.baselines.end() || !now->second.bounded) return false;
    const auto kept = now->second.bounded->find(id);
    return kept != now->second.bounded->end() && kept->second.contains(metric);
  }
};

}  // namespace

bool is_bounded_alone(const Policy& policy, const std::string& case_id,
                      const std::string& device_class, const std::string& metric,
                      const std::string& kind) {
  return std::ranges::any_of(metric_variants, [&](const char* variant) {
    const Standard standard = policy.own_standard(case_id, device_class, variant, metric, kind);
    if (standard.stored() && standard.gate != Gate::off) return false;
    if (!standard.bounds.empty()) return true;
    const std::vector<Sum> sums = policy.own_sums(case_id, device_class, variant);
    return std::ranges::any_of(
        sums, [&](const Sum& sum) { return std::ranges::count(sum.metrics, metric) > 0; });
  });
}

std::vector<RuleChange> lost_bounds(const MergeBase& base, const ChangeSet& change) {
  return Losses(base, change).run();
}

}  // namespace holdfast::gate
