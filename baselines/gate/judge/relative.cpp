// SPDX-License-Identifier: Apache-2.0
// One metric against what was accepted of it, before the change or with it.
#include "gate/judge/metric.hpp"

#include <algorithm>
#include <cmath>

#include "gate/base/numbers.hpp"
#include "gate/documents/measured.hpp"
#include "gate/documents/verdict_names.hpp"
#include "gate/judge/loosening.hpp"
#include "gate/judge/metric_context.hpp"
#include "gate/judge/row_sentence.hpp"
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
  if (const Measured* base = beside(context)) {
    judge_beside(*base, context, judged);
    return;
  }
  const Entry* base = find_entry(part_.baseline, context.key);
  if (base)
    judge_accepted(*base, context, judged);
  else
    judge_new(context, judged);
}

// The base's value in the same run, for a time or ratio.
const Measured* MetricJudge::beside(const Context& context) const {
  return context.timed() && part_.beside ? part_.beside->find(context.key) : nullptr;
}

// "whose processors stood 370 ns apart for 55: pairs decide nothing"; empty where they stood alike.
std::optional<std::string> MetricJudge::stood_otherwise(const Context& context) const {
  if (context.metric.name == handover_metric) return std::nullopt;
  const NamedMetric* here = find_measured(context.all, case_variant, handover_metric);
  const Measured* there =
      part_.beside->find(entry_key(context.result.id, case_variant, handover_metric));
  if (!here || !there) return std::nullopt;
  const auto now = positive(here->measured->value), then = positive(there->value);
  if (!now || !then || std::max(*now, *then) >= longest_handover ||
      std::max(*now, *then) <= further_apart * std::min(*now, *then))
    return std::nullopt;
  return text("whose processors stood ", readable(*then, "s"), " apart for ", readable(*now, "s"),
              ": pairs decide nothing");
}

// An accepted value of the same processor still gives the distance from its anchor.
void MetricJudge::judge_beside(const Measured& base, const Context& context,
                               JudgedMetric& judged) const {
  Row& row = judged.row;
  row.standard = held_against::beside;
  row.baseline = base.value;
  if (part_.has_invalid_base()) {
    row.verdict = verdict::environment;
    row.next = part_.run_again();
    say(row, text("is ", readable(*row.value, row.unit), ", and ", readable(base.value, row.unit),
                  " in the base beside it, an invalid measurement, which decides nothing"));
    return;
  }
  judged.screened = positive(context.measured.value) && positive(base.value);
  Judgement judgement = gate::judge_beside(context.standard, context.measured, base);
  if (const auto because = stood_otherwise(context)) {
    judgement.verdict = verdict::noisy;
    judgement.because = text("is ", readable(*row.value, row.unit), ", and ",
                             readable(base.value, row.unit), " in the base beside it, ", *because);
  }
  const Entry* accepted = find_entry(part_.baseline, context.key);
  if (judgement.verdict == verdict::pass || judgement.verdict == verdict::improved)
    if (const auto value = positive(context.measured.value); accepted && value)
      if (const auto because = drift(context.standard, *accepted, *value)) {
        judgement.verdict = verdict::drift;
        judgement.because =
            text(*because, "; the base beside it ", row.kind == "time" ? "took " : "has ",
                 readable(base.value, row.unit));
      }
  judged.urgency = judgement.worth_comparing &&
                           (row.metric == "time_s" || row.metric == "speedup") &&
                           row.variant != "reference"
                       ? 2 * judgement.in_limits()
                       : 0;
  decide(judgement, accepted, context, judged);
}

void MetricJudge::judge_accepted(const Entry& base, const Context& context,
                                 JudgedMetric& judged) const {
  Row& row = judged.row;
  row.standard = held_against::accepted;
  row.baseline = base.value;
  judged.screened = context.timed() && positive(context.measured.value) && positive(base.value);
  const Judgement judgement = judge_entry(context, base, part_.baseline->entries);
  if (judgement.suspect()) judged.urgency = judgement.in_limits();
  decide(judgement, &base, context, judged);
}

// Fills the row from the judgement; `accepted` is the value's entry, if it has one.
void MetricJudge::decide(const Judgement& judgement, const Entry* accepted, const Context& context,
                         JudgedMetric& judged) const {
  Row& row = judged.row;
  const Standard& standard = context.standard;
  row.verdict = judgement.verdict;
  row.change = judgement.change;
  row.limit = judgement.limit;
  add_resolution(context, judged);
  if (judgement.verdict == verdict::pass) {
    say(row, text("is ", readable(*row.value, row.unit),
                  row.standard == held_against::beside ? ", as in the base beside it ("
                                                       : ", as accepted (",
                  readable(*row.baseline, row.unit), ")"));
    return;
  }
  say(row, judgement.because);
  if (context.metric.name == handover_metric) {
    judged.screened = false;
    row.verdict = verdict::environment;
    row.next = part_.run_again();
    return;
  }
  if (accepted && is_accepted_here(context, *accepted, row)) return;
  row.blocking = blocks(context, row);
  row.next = row.verdict == verdict::noisy      ? part_.run_again()
             : row.verdict == verdict::improved ? part_.accept_command()
                                                : part_.explain_command(row.case_id);
  if (row.verdict == verdict::drift && context.timed())
    row.blocking = standard.drift_blocks && standard.gate == Gate::block;
  add_code_evidence(context, row);
  if (context.timed() && judgement.suspect())
    judge_control(context, judgement, judged);
  else if (is_worse(context, row))
    excuse_changed_tools(standard, row);
}

void MetricJudge::add_resolution(const Context& context, JudgedMetric& judged) const {
  Row& row = judged.row;
  judged.alone = resolution(context, false);
  const bool compared = confirmed_ && (row.metric == "time_s" || row.metric == "speedup");
  const Resolution found = compared ? resolution(context, true) : judged.alone;
  row.resolution = found.loss;
  row.resolved_by = found.by;
}

// The smallest loss that fails, beyond what the value is compared with, or beyond a bound in every
// process.
Resolution MetricJudge::resolution(const Context& context, bool confirmed) const {
  Resolution found;
  const Standard& standard = context.standard;
  const bool gates = confirmed ? standard.blocks_once_compared() : standard.gate == Gate::block;
  const Measured& measured = context.measured;
  if (!context.timed() || !gates || context.metric.variant == "reference" ||
      measured.processes < enough_processes || !positive(measured.value))
    return found;
  const auto say_smaller = [&](double loss, const char* by) {
    if (!found.loss || std::expm1(loss) < *found.loss) found = {std::expm1(loss), by};
  };
  if (const Measured* base = beside(context))
    say_smaller(resolution_beside(standard, measured, *base, confirmed), held_against::beside);
  else if (const Entry* entry = entry_of(context);
           entry && positive(entry->value) &&
           screening_limit(standard.tolerance, *entry) <= widest_limit)
    say_smaller(resolution_screened(standard, measured, *entry, confirmed), held_against::accepted);
  for (const Rule* rule : standard.bounds) {
    if (rule->gate.value_or(Gate::block) != Gate::block || measured.values.empty()) continue;
    const auto [least, most] = std::minmax_element(measured.values.begin(), measured.values.end());
    const Bound& bound = *rule->bound;
    if (standard.better == Better::higher && bound.min && *bound.min > 0 && *most > *bound.min)
      say_smaller(std::log(*most / *bound.min), held_against::bound);
    if (standard.better == Better::lower && bound.max && *least > 0 && *least < *bound.max)
      say_smaller(std::log(*bound.max / *least), held_against::bound);
  }
  return found;
}

// The entry that was accepted before the change, else with it.
const Entry* MetricJudge::entry_of(const Context& context) const {
  const Entry* before = find_entry(part_.baseline, context.key);
  return before ? before : find_entry(part_.proposed, context.key);
}

Judgement MetricJudge::judge_entry(const Context& context, const Entry& entry,
                                   const Entries& entries) const {
  const auto again = part_.again.find(context.key);
  const Surroundings around{
      .policy = policy_,
      .device_class = part_.device_class(),
      .case_id = context.result.id,
      .all = context.all,
      .accepted = entries,
      .again = again == part_.again.end() ? std::span<const Measured>() : again->second};
  return judge_among(around, context.metric, context.standard, entry);
}

// A count does not change by chance: where runs of one build differ, neither tells what it does.
void MetricJudge::judge_again(const Context& context, Row& row) const {
  const Standard& standard = context.standard;
  const auto again = part_.again.find(context.key);
  if (again == part_.again.end() || context.timed() || !standard.stored() ||
      standard.gate == Gate::off || !tier_includes("gate", context.result.tier))
    return;
  const auto other = std::ranges::find_if(again->second, [&](const Measured& one) {
    return judge_exact(standard, one, *row.value).verdict != verdict::pass;
  });
  if (other == again->second.end()) return;
  row.evidence[again_evidence] =
      text(told_apart(*row.value, other->value, row.unit).second, " in another run of this build");
  if (row.blocking) return;
  row.verdict = verdict::noisy;
  row.blocking = blocks(context, row);
  row.next = part_.run_again();
  row.sentence += "; undecided, because another run of this build (--again) differs";
}

bool MetricJudge::is_worse(const Context& context, const Row& row) const {
  return row.verdict == verdict::regression || row.verdict == verdict::changed ||
         row.verdict == verdict::noisy || (row.verdict == verdict::drift && !context.timed());
}

bool MetricJudge::blocks(const Context& context, const Row& row) const {
  return is_worse(context, row) && context.standard.gate == Gate::block &&
         (row.verdict != verdict::noisy || undecided_fails_);
}

// Whether no undisturbed process measured the number, so that it is no value to begin with.
bool MetricJudge::is_of_no_process(const Context& context) {
  return context.timed() && context.measured.processes == 0 &&
         context.metric.name != handover_metric;
}

void MetricJudge::judge_new(const Context& context, JudgedMetric& judged) const {
  Row& row = judged.row;
  const std::string now = text("is ", readable(*row.value, row.unit));
  if (const Entry* proposed = find_entry(part_.proposed, context.key)) {
    const Judgement judgement = judge_entry(context, *proposed, part_.proposed->entries);
    const bool agrees = judgement.verdict == verdict::pass;
    row.standard = held_against::accepted;
    row.baseline = proposed->value;
    row.change = judgement.change;
    row.limit = judgement.limit;
    row.verdict = agrees ? verdict::accepted : judgement.verdict;
    row.blocking = blocks(context, row);
    add_resolution(context, judged);
    say(row, agrees ? text(now, ", ", accepted_because(proposed->accepted.why))
                    : text(judgement.because, ", which is what this change accepts"));
    return;
  }
  row.verdict = verdict::fresh;
  std::string because;
  if (!part_.baseline && !part_.proposed) {
    because = "; nothing is accepted yet for this device class";
  } else if (context.timed() && part_.has_other_processor()) {
    because = "; nothing is accepted yet for the processor " + timed_on(part_.results);
  } else {
    row.next = part_.accept_command();
    row.blocking = context.standard.on_request.empty() || is_stored(context.metric.name);
    // Whatever its gate: a metric that is stored for one case is stored for all.
    because = row.blocking ? " and has no entry in " + part_.baseline_path
                           : "; nothing is accepted yet of this metric, which not every run "
                             "measures";
  }
  if (is_of_no_process(context)) {
    if (undecided_fails_ || !row.blocking) row.verdict = verdict::noisy;
    row.next = part_.run_again();
    because += "; other work disturbed every process of it, so it is no number to begin with";
  }
  say(row, now + because);
}

// Whether any case has an entry for it, before the change or with it.
bool MetricJudge::is_stored(const std::string& metric) const {
  const auto holds = [&](const std::optional<Baseline>& baseline) {
    return baseline &&
           std::any_of(baseline->entries.begin(), baseline->entries.end(),
                       [&](const auto& entry) { return entry.first.ends_with('|' + metric); });
  };
  return holds(part_.baseline) || holds(part_.proposed);
}

// Whether the change set itself carries another value, with a reason of its own, that the
// measurement agrees with.
bool MetricJudge::is_accepted_here(const Context& context, const Entry& base, Row& row) const {
  const Entry* proposed = find_entry(part_.proposed, context.key);
  if (!proposed || proposed->value == base.value) return false;
  const Judgement agreed = gate::judge(context.standard, context.measured, *proposed);
  // A loss that is accepted with a reason keeps its distance from the anchor.
  const bool drifts =
      context.timed() && agreed.verdict == verdict::drift && !context.standard.drift_blocks;
  if (agreed.verdict != verdict::pass && !drifts) return false;
  const bool is_free =
      row.verdict == verdict::improved || (row.verdict == verdict::drift && !context.timed());
  if (!(is_free && is_unasked(proposed->accepted.why)) &&
      !is_new(proposed->accepted.why, part_.reasons_before)) {
    row.evidence["baseline"] =
        text("this change edits the accepted value, and gives no reason of its own; restore ",
             part_.baseline_path, " of the merge base, and accept with --why");
    return false;
  }
  row.verdict = verdict::accepted;
  row.sentence +=
      text(drifts ? "; it " + agreed.because : "", "; ", accepted_because(proposed->accepted.why));
  return true;
}

}  // namespace holdfast::gate
