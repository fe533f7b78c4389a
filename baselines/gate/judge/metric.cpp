// SPDX-License-Identifier: Apache-2.0
#include "gate/judge/metric.hpp"

#include <algorithm>
#include <utility>

#include "gate/base/numbers.hpp"
#include "gate/documents/verdict_names.hpp"
#include "gate/judge/loosening.hpp"
#include "gate/judge/metric_context.hpp"
#include "gate/judge/row_sentence.hpp"

namespace holdfast::gate {
namespace {

// Counts, bytes, times and ratios are not negative; a share of the advisory kind may be, by noise.
void refuse_negative(const Standard& standard, const Row& row) {
  const auto* number = std::get_if<double>(&*row.value);
  if (!number || *number >= 0 || (standard.kind == "advisory" && standard.unit == "1")) return;
  throw Error(Fault::bad_input, text(row.case_id, ' ', row.variant, " on ", row.device_class, ": ",
                                     row.metric, " is ", readable(*number, row.unit),
                                     ", which cannot be negative; run the suite again"));
}

}  // namespace

const Entry* find_entry(const std::optional<Baseline>& baseline, const std::string& key) {
  if (!baseline) return nullptr;
  const auto at = baseline->entries.find(key);
  return at == baseline->entries.end() ? nullptr : &at->second;
}

std::string told_verdict(const Row& row) {
  const bool beyond = row.verdict == verdict::regression || row.verdict == verdict::changed;
  return beyond && !row.blocking ? verdict::warning : row.verdict;
}

void waive(const Standard& standard, Row& row) {
  if (!standard.waiver || !row.blocking) return;
  row.verdict = verdict::waived;
  row.blocking = false;
  row.sentence += text("; waived until ", standard.waiver->until, ": ", standard.waiver->why);
}

Row MetricJudge::new_row(const Row& like, const Standard& standard) const {
  Row row = new_row(like.case_id, like.variant, like.metric);
  row.kind = standard.kind;
  row.unit = standard.unit;
  row.value = like.value;
  return row;
}

Row MetricJudge::new_row(const std::string& case_id, const std::string& variant,
                         const std::string& metric) const {
  return {.case_id = case_id,
          .device_class = part_.device_class(),
          .variant = variant,
          .metric = metric};
}

Row settled(const Standard& before, const Standard& own, const Policy& policy, Row by_before,
            Row by_own) {
  if (!by_before.blocking) return by_own.blocking ? std::move(by_own) : std::move(by_before);
  if (by_own.blocking) return by_before;
  const auto why = excuse(before, own, policy.reasons_before());
  if (!why) {
    by_before.evidence["policy"] =
        "this change lets it pass, and gives no reason of its own; it is judged as before";
    return by_before;
  }
  by_before.verdict = verdict::accepted;
  by_before.blocking = false;
  by_before.next.reset();
  by_before.sentence += "; " + accepted_because(*why);
  return by_before;
}

JudgedMetric MetricJudge::judge(const CaseResult& result, const NamedMetric& metric,
                                const std::vector<NamedMetric>& all) const {
  const auto& on = part_.device_class();
  const Standard standard =
      policy_.standard(result.id, on, metric.variant, metric.name, metric.kind);
  JudgedMetric judged = judge_by(standard, result, metric, all);
  if (!policy_.is_precedent(result.id, on, metric.variant, metric.name, metric.kind)) return judged;
  const Standard own =
      policy_.own_standard(result.id, on, metric.variant, metric.name, metric.kind);
  JudgedMetric by_own = judge_by(own, result, metric, all);
  if (!judged.row.blocking && by_own.row.blocking) return by_own;
  judged.urgency = std::max(judged.urgency, by_own.urgency);  // a comparison applies either rule
  judged.row = settled(standard, own, policy_, std::move(judged.row), std::move(by_own.row));
  judged.suspect = judged.suspect && judged.row.verdict != verdict::accepted;
  return judged;
}

// An absent value gates if it is expected.
bool MetricJudge::gates(const Standard& standard, const CaseResult& result,
                        const NamedMetric& metric) const {
  if (metric.name == handover_metric) return false;
  const bool is_bounded = std::ranges::any_of(
      standard.bounds, [](const Rule* rule) { return rule->gate != Gate::off; });
  const bool is_compared =
      standard.stored() && standard.gate != Gate::off && tier_includes("gate", result.tier);
  if (!is_bounded && !is_compared) return false;
  return metric.measured ||
         !why_expected(standard, new_row(result.id, metric.variant, metric.name)).empty();
}

// A time of an invalid measurement depends on the machine; an impossible one is still reported.
bool MetricJudge::is_undecidable(const Context& context, const Row& row) const {
  const Standard& standard = context.standard;
  return is_sampled(standard, context.measured) && !part_.results.quality.valid &&
         (standard.gate != Gate::off || !standard.bounds.empty()) &&
         row.verdict != verdict::suspect_fast;
}

// Judges the value alone, whatever its processes say.
bool MetricJudge::is_within_bounds(const Standard& standard, const Row& row) {
  const double number = std::get<double>(*row.value);
  return std::ranges::none_of(standard.bounds, [&](const Rule* rule) {
    return rule->gate != Gate::off && violation(*rule->bound, number, row.unit);
  });
}

JudgedMetric MetricJudge::judge_by(Standard standard, const CaseResult& result,
                                   const NamedMetric& metric,
                                   const std::vector<NamedMetric>& all) const {
  if (is_other_patch_level(standard))
    standard.tolerance = std::max(standard.tolerance, *standard.patch_tolerance);
  JudgedMetric judged{.row = new_row(result.id, metric.variant, metric.name)};
  Row& row = judged.row;
  row.kind = standard.kind;
  row.unit = standard.unit;
  judged.gates = gates(standard, result, metric);
  if (!metric.measured) {
    judge_absent(standard, metric, row);
    waive(standard, row);
    return judged;
  }
  row.value = metric.measured->value;
  refuse_negative(standard, row);
  const Context context{.result = result,
                        .metric = metric,
                        .all = all,
                        .standard = standard,
                        .measured = *metric.measured,
                        .key = entry_key(result.id, metric.variant, metric.name)};
  const bool beyond = judge_absolute(standard, context.measured, beside(context), row);
  if (is_undecidable(context, row)) {
    row = new_row(row, standard);
    row.verdict = verdict::environment;
    row.next = part_.run_again();
    say(row, text("is ", readable(*row.value, row.unit),
                  ", of an invalid measurement, which decides nothing"));
    return judged;
  }
  if (beyond) add_accepted(context, row);
  // With a base, a comparison tells whether the change moved what a busy machine cannot decide.
  if (beyond && part_.beside && row.verdict == verdict::noisy && is_within_bounds(standard, row))
    judged.screened = true;
  if (!row.blocking) {
    // A bound that only warns or is undecided must not hide a row that blocks, or may block once it
    // is compared with the base.
    JudgedMetric relative = judged;
    if (beyond) {
      relative.bound = row;
      relative.row = new_row(row, standard);
    }
    judge_relative(context, relative);
    const bool is_asked = part_.beside && (relative.suspect || relative.urgency > 1);
    if (!beyond || relative.row.blocking || is_asked) judged = std::move(relative);
    if (!beyond && row.verdict != verdict::pass && row.verdict != verdict::fresh &&
        !standard.set_by.empty())
      row.evidence["rule"] = standard.set_by;
  }
  judge_again(context, row);
  waive(standard, row);
  return judged;
}

}  // namespace holdfast::gate
