// SPDX-License-Identifier: Apache-2.0
// One metric against what is absolute: bounds, physical limits, and bounds on sums of metrics.
#include "gate/judge/metric.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "gate/base/numbers.hpp"
#include "gate/documents/measured.hpp"
#include "gate/documents/verdict_names.hpp"
#include "gate/judge/metric_context.hpp"
#include "gate/judge/row_sentence.hpp"

namespace holdfast::gate {
namespace {

// "27 on 2 CPUs ..."; empty if the load was no more than the number of CPUs, which a suite fills by
// itself, or twice that where the CPUs were kept awake.
std::optional<std::string> load_of(const Results& results) {
  const double load = results.quality.load.value_or(0);
  // Absent from older results.
  const auto cpus = results.env.cpus.value_or(results.env.threads.value_or(1));
  const auto own = results.env.awake.value_or(false) ? 2 * cpus : cpus;
  if (load < static_cast<double>(own + 1)) return std::nullopt;
  return text(std::round(10 * load) / 10, " on ", plural(static_cast<std::size_t>(cpus), "CPU"),
              " when it was measured: seconds say little there");
}

}  // namespace

// Bounds and physical limits, which hold with or without a baseline. True when one is violated, or
// may be. `base` is what another build had in the same run, where there is one.
bool MetricJudge::judge_absolute(const Standard& standard, const Measured& measured,
                                 const Measured* base, Row& row) const {
  const auto* number = std::get_if<double>(&*row.value);
  if (!number) return false;
  if (standard.impossible_above && *number > *standard.impossible_above) {
    row.verdict = verdict::suspect_fast;
    row.blocking = true;
    row.limit = standard.impossible_above;
    row.next = part_.run_again();
    const auto [now, most] = told_apart(*number, *standard.impossible_above, row.unit);
    say(row, text("is ", now, ", above ", most,
                  ": faster than the hardware allows, so the work or the clock is wrong"));
    return true;
  }
  bool beyond = false;
  for (const Rule* rule : standard.bounds) {
    if (rule->gate == Gate::off) continue;
    Row broken = new_row(row, standard);
    if (!judge_bound(*rule, standard, measured, base, broken)) continue;
    // The first violation is reported, unless only a later one blocks.
    if (!beyond || (broken.blocking && !row.blocking)) row = std::move(broken);
    beyond = true;
  }
  return beyond;
}

// An invalid measurement, or one of too few processes, says nothing of the machine.
bool MetricJudge::was_beyond(const Bound& bound, const Standard& standard, const Measured& base,
                             const std::string& unit) const {
  const auto* number = std::get_if<double>(&base.value);
  return number && !part_.has_invalid_base() && vote(standard, bound, base).enough &&
         violation(bound, *number, unit);
}

// A count is beyond the bound or not; of a clocked value each process votes. If the base was beyond
// it too, the machine is the cause and no change: it warns.
bool MetricJudge::judge_bound(const Rule& rule, const Standard& standard, const Measured& measured,
                              const Measured* base, Row& row) const {
  const double number = std::get<double>(measured.value);
  std::optional<std::string> broken = violation(*rule.bound, number, row.unit);
  const BoundVotes votes = vote(standard, *rule.bound, measured);
  if (votes.beyond == 0 && !broken && votes.enough) return false;
  const bool certain = votes.certain;
  row.verdict = certain ? verdict::regression : verdict::noisy;
  row.blocking = rule.gate.value_or(Gate::block) == Gate::block && (certain || undecided_fails_);
  row.limit = rule.bound->min && (!rule.bound->max || number < *rule.bound->min) ? rule.bound->min
                                                                                 : rule.bound->max;
  row.standard = held_against::bound;
  row.evidence["rule"] = rule.place;
  if (const auto busy = load_of(part_.results);
      busy && row.unit == "s" && !is_sampled(standard, measured))
    row.evidence["load"] = *busy;
  row.next = certain ? text("holdfast policy ", row.case_id, " --device-class=", row.device_class,
                            part_.given.judging())
                     : part_.run_again();
  if (!broken) broken = text("is ", readable(number, row.unit), ", within its bound");
  if (!certain)
    *broken += text("; undecided: ", votes.beyond, " of ", votes.all, " processes ",
                    votes.beyond == 1 ? "is" : "are", " beyond it",
                    votes.enough ? "" : text(", and a decision needs ", enough_processes));
  if (base && was_beyond(*rule.bound, standard, *base, row.unit)) {
    row.blocking = false;
    *broken +=
        text("; and ", readable(base->value, row.unit), " in the base beside it, beyond it too");
  }
  say(row, *broken);
  return true;
}

// Adds the accepted value to a violated bound: the limit is then a relative change, as readers of
// the verdict expect.
void MetricJudge::add_accepted(const Context& context, Row& row) const {
  const Entry* base = find_entry(part_.baseline, context.key);
  const auto* before = base ? std::get_if<double>(&base->value) : nullptr;
  const auto* now = std::get_if<double>(&*row.value);
  if (!before || !now) return;
  row.sentence += text("; the accepted value is ", readable(*before, row.unit));
  add_code_evidence(context, row);
  if (*before == 0) return;
  row.baseline = *before;
  row.change = *now / *before - 1;
  row.limit = row.limit.value_or(*before) / *before - 1;
  row.sentence += text(" (", percent(*row.change), ")");
}

std::vector<Row> MetricJudge::judge_sums(const CaseResult& result,
                                         const std::vector<NamedMetric>& all) const {
  std::vector<Row> rows;
  const std::string& on = part_.device_class();
  for (const char* variant : metric_variants) {
    const std::vector<Sum> own = policy_.own_sums(result.id, on, variant);
    for (const Sum& sum : policy_.sums(result.id, on, variant)) {
      const auto row = judge_sum(sum, result, variant, all);
      if (!row) continue;
      const auto same = std::find_if(own.begin(), own.end(),
                                     [&](const Sum& one) { return one.metrics == sum.metrics; });
      const Sum without{.name = sum.name, .metrics = sum.metrics};
      const Sum& now = same == own.end() ? without : *same;
      rows.push_back(policy_.has_precedent()
                         ? settled(sum.standard, now.standard, policy_, *row,
                                   judge_sum(now, result, variant, all).value_or(*row))
                         : *row);
    }
  }
  return rows;
}

// Empty if not all of its metrics were measured; each missing one is then reported.
std::optional<Row> MetricJudge::judge_sum(const Sum& sum, const CaseResult& result,
                                          const std::string& variant,
                                          const std::vector<NamedMetric>& all) const {
  double total = 0;
  Row row = new_row(result.id, variant, sum.name);
  row.kind = sum.standard.kind;
  for (const std::string& name : sum.metrics) {
    const NamedMetric* metric = find_measured(all, variant, name);
    if (!metric) return std::nullopt;
    const auto* number = std::get_if<double>(&metric->measured->value);
    if (!number) return std::nullopt;  // an identity, in a sum of the merge base
    total += *number;
    row.unit = policy_.standard(result.id, part_.device_class(), variant, name, metric->kind).unit;
  }
  row.value = total;
  Standard standard = sum.standard;
  standard.unit = row.unit;
  if (!judge_absolute(standard, {.value = total}, nullptr, row)) {
    row.verdict = verdict::pass;
    say(row, text("is ", readable(total, row.unit), ", within its bound"));
  }
  waive(standard, row);
  return row;
}

}  // namespace holdfast::gate
