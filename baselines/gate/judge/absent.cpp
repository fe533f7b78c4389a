// SPDX-License-Identifier: Apache-2.0
// A missing value: whether it may be absent, or is expected.
#include "gate/base/numbers.hpp"
#include "gate/documents/verdict_names.hpp"
#include "gate/judge/metric.hpp"
#include "gate/judge/row_sentence.hpp"

namespace holdfast::gate {

bool MetricJudge::is_listed(const std::string& case_id, const std::string& metric) const {
  const ListedCase* listed = part_.list.find(case_id);
  return listed && listed->has(device_kind(part_.results.env.device_name), metric);
}

// Why a value must be there; empty if it is not expected.
std::string MetricJudge::why_expected(const Standard& standard, const Row& row) const {
  const std::string key = entry_key(row.case_id, row.variant, row.metric);
  for (const auto* baseline : {&part_.baseline, &part_.proposed})
    if (const Entry* entry = find_entry(*baseline, key))
      return text("has an accepted value, ", readable(entry->value, row.unit));
  if (!standard.bounds.empty()) return "has a bound";
  return is_listed(row.case_id, row.metric) ? "is listed" : "";
}

// A device may be unable to give a metric if the policy knows of it; any other reason hides what
// was to be judged.
void MetricJudge::judge_absent(const Standard& standard, const NamedMetric& metric,
                               Row& row) const {
  if (const Absence* known = policy_.absence(row.device_class, metric.name, metric.reason)) {
    row.verdict = verdict::skipped;
    row.evidence["rule"] = text(known->place, ": ", known->why);
    say(row, text("is not available: ", metric.reason));
    return;
  }
  const std::string expected = why_expected(standard, row);
  row.verdict = expected.empty() ? verdict::skipped : verdict::missing;
  row.blocking = !expected.empty();
  if (row.blocking) row.next = part_.run_again();
  say(row, expected.empty() ? text("is not available: ", metric.reason)
                            : text(expected, " and was not measured: ", metric.reason));
}

}  // namespace holdfast::gate
