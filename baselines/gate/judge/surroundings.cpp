// SPDX-License-Identifier: Apache-2.0
#include "gate/judge/surroundings.hpp"

namespace holdfast::gate {
namespace {

// "launches rose from 4 to 8 (+100 %)": a metric beside it that became worse; empty where none did.
std::string price(const Surroundings& around, const NamedMetric& metric,
                  const std::vector<std::string>& beside) {
  for (const std::string& name : beside) {
    const NamedMetric* other = find_measured(around.all, metric.variant, name);
    const auto entry = around.accepted.find(entry_key(around.case_id, metric.variant, name));
    if (!other || entry == around.accepted.end()) continue;
    const Standard standard = around.policy.standard(around.case_id, around.device_class,
                                                     metric.variant, name, other->kind);
    const Judgement judgement = judge_exact(standard, *other->measured, entry->second.value);
    if (judgement.verdict == verdict::regression)
      return name + ' ' + judgement.because.substr(0, judgement.because.find(", "));
  }
  return "";
}

}  // namespace

Judgement judge_among(const Surroundings& around, const NamedMetric& metric,
                      const Standard& standard, const Entry& entry) {
  Judgement judgement = judge(standard, *metric.measured, entry, around.again);
  if (judgement.verdict != verdict::improved) return judgement;
  const std::string paid = price(around, metric, standard.fall_is_change);
  if (paid.empty()) return judgement;
  judgement.verdict = verdict::changed;
  judgement.because += text(", and ", paid, ": it can be a loss, so say what it brings");
  return judgement;
}

}  // namespace holdfast::gate
