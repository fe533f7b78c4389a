// SPDX-License-Identifier: Apache-2.0
// One metric against what was accepted of it, before the change or with it.
#include "gate/judge/metric.hpp"

#include <algorithm>

#include "gate/base/numbers.hpp"
#include "gate/documents/verdict.hpp"
#include "gate/judge/metric_context.hpp"
#include "gate/judge/surroundings.hpp"

namespace holdfast::gate {

void MetricJudge::judge_relative(const Context& context, JudgedMetric& judged) const {
  Row& row = judged.row;
  const Standard& standard = context.standard;
  row.verdict = verdict::pass;
  if (!standard.stored() || standard.gate == Gate::off ||
      !tier_includes("gate", context.result.tier)) {
    say(row, text("is ", readable(*row.value, row.unit), "; it does not gate"));
    return;
  }
  const Entry* base = find_entry(part_.baseline, context.key);
  if (!base) {
    judge_new(context, row);
    return;
  }
  judged.screened = context.timed() && positive(context.measured.value) && positive(base->value);
  row.baseline = base->value;
  const Judgement judgement = judge_valid(context, *base, part_.baseline->entries);
  row.verdict = judgement.verdict;
  row.change = judgement.change;
  row.limit = judgement.limit;
  if (judgement.verdict == verdict::pass) {
    say(row, text("is ", readable(*row.value, row.unit), ", as accepted (",
                  readable(base->value, row.unit), ")"));
    return;
  }
  say(row, judgement.because);
  if (context.metric.name == handover_metric) {
    judged.screened = false;
    row.verdict = verdict::environment;
    row.next = part_.run_again();
    return;
  }
  if (is_accepted_here(context, *base, row)) return;
  row.blocking = blocks(context, row);
  row.next = row.verdict == verdict::noisy ? part_.run_again() : part_.accept_command();
  if (row.verdict == verdict::drift && context.timed()) {
    row.blocking = standard.drift_blocks && standard.gate == Gate::block;
    row.next = part_.accept_command() + " --new-anchor";
  }
  add_code_evidence(context, row);
  if (context.timed() && judgement.suspect())
    judge_control(context, judgement, judged);
  else if (is_worse(context, row))
    excuse_changed_tools(standard, row);
}

// A time of an invalid measurement decides nothing.
Judgement MetricJudge::judge_valid(const Context& context, const Entry& entry,
                                   const Entries& entries) const {
  const Surroundings around{.policy = policy_,
                            .device_class = part_.device_class(),
                            .case_id = context.result.id,
                            .all = context.all,
                            .accepted = entries};
  Judgement judgement = judge_among(around, context.metric, context.standard, entry);
  if (context.timed() && !part_.results.quality.valid && judgement.verdict != verdict::pass) {
    judgement.verdict = verdict::noisy;
    judgement.because += "; the measurement is invalid";
  }
  return judgement;
}

bool MetricJudge::is_worse(const Context& context, const Row& row) const {
  return row.verdict == verdict::regression || row.verdict == verdict::changed ||
         row.verdict == verdict::noisy || (row.verdict == verdict::drift && !context.timed());
}

bool MetricJudge::blocks(const Context& context, const Row& row) const {
  return is_worse(context, row) && context.standard.gate == Gate::block &&
         (row.verdict != verdict::noisy || undecided_fails_);
}

void MetricJudge::judge_new(const Context& context, Row& row) const {
  const std::string now = text("is ", readable(*row.value, row.unit));
  if (const Entry* proposed = find_entry(part_.proposed, context.key)) {
    const Judgement judgement = judge_valid(context, *proposed, part_.proposed->entries);
    const bool agrees = judgement.verdict == verdict::pass;
    row.baseline = proposed->value;
    row.change = judgement.change;
    row.limit = judgement.limit;
    row.verdict = agrees ? verdict::accepted : judgement.verdict;
    row.blocking = blocks(context, row);
    say(row, agrees ? text(now, ", accepted with this change: ", proposed->accepted.why)
                    : text(judgement.because, ", which is what this change accepts"));
    return;
  }
  row.verdict = verdict::fresh;
  if (!part_.baseline && !part_.proposed) {
    say(row, now + "; nothing is accepted yet for this device class");
    return;
  }
  if (context.timed() && part_.has_other_processor()) {
    say(row,
        text(now, "; nothing is accepted yet for the processor ", part_.results.env.processor));
    return;
  }
  row.next = part_.accept_command();
  if (!context.standard.on_request.empty() && !is_stored(context.metric.name)) {
    say(row, now + "; nothing is accepted yet of this metric, which not every run measures");
    return;
  }
  row.blocking = true;  // whatever its gate: what is stored for one is stored for all
  say(row, text(now, " and has no entry in ", part_.baseline_path));
}

// For any case, before the change or with it.
bool MetricJudge::is_stored(const std::string& metric) const {
  const auto holds = [&](const std::optional<Baseline>& baseline) {
    return baseline &&
           std::any_of(baseline->entries.begin(), baseline->entries.end(),
                       [&](const auto& entry) { return entry.first.ends_with('|' + metric); });
  };
  return holds(part_.baseline) || holds(part_.proposed);
}

// The change set itself carries another value, with its reason, and the measurement agrees with it.
bool MetricJudge::is_accepted_here(const Context& context, const Entry& base, Row& row) const {
  const Entry* proposed = find_entry(part_.proposed, context.key);
  if (!proposed || proposed->value == base.value) return false;
  if (gate::judge(context.standard, context.measured, *proposed).verdict != verdict::pass)
    return false;
  if (proposed->accepted.why == base.accepted.why && proposed->accepted.utc == base.accepted.utc) {
    row.evidence["baseline"] = "this change edits the accepted value, and gives no reason";
    return false;
  }
  row.verdict = verdict::accepted;
  row.sentence += text("; accepted with this change: ", proposed->accepted.why);
  return true;
}

}  // namespace holdfast::gate
