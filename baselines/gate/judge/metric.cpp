// SPDX-License-Identifier: Apache-2.0
#include "gate/judge/metric.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "gate/base/numbers.hpp"
#include "gate/documents/verdict.hpp"
#include "gate/judge/loosening.hpp"
#include "gate/judge/surroundings.hpp"
#include "gate/measure/instruction_counts.hpp"

namespace holdfast::gate {

struct MetricJudge::Context {
  const CaseResult& result;
  const NamedMetric& metric;
  const std::vector<NamedMetric>& all;
  const Standard& standard;
  const Measured& measured;
  std::string key;
  bool timed() const { return standard.timed(); }
};

namespace {

// Counts, bytes, times and ratios are not negative; a share of the advisory kind may be, by noise.
void refuse_negative(const Standard& standard, const Row& row) {
  const auto* number = std::get_if<double>(&*row.value);
  if (!number || *number >= 0 || (standard.kind == "advisory" && standard.unit == "1")) return;
  throw Error(Fault::bad_input,
              text(row.case_id, ' ', row.variant, " on ", row.device_class, ": ", row.metric,
                   " is ", *number, ", which cannot be negative; run the suite again"));
}

// A number that has a logarithm.
std::optional<double> positive(const Value& value) {
  const auto* number = std::get_if<double>(&value);
  return number && *number > 0 ? std::optional(*number) : std::nullopt;
}

}  // namespace

const Entry* find_entry(const std::optional<Baseline>& baseline, const std::string& key) {
  if (!baseline) return nullptr;
  const auto at = baseline->entries.find(key);
  return at == baseline->entries.end() ? nullptr : &at->second;
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

void MetricJudge::say(Row& row, const std::string& because) const {
  row.sentence = text(row.case_id, row.variant == case_variant ? "" : " " + row.variant, " on ",
                      row.device_class, ": ", row.metric, row.metric.empty() ? "" : " ", because);
}

Row settled(const Standard& before, const Standard& own, Row by_before, Row by_own) {
  if (!by_before.blocking) return by_own.blocking ? by_own : by_before;
  if (by_own.blocking) return by_before;
  const auto why = excuse(before, own);
  if (!why) {
    by_before.evidence["policy"] =
        "this change lets it pass, and gives no reason of its own; it is judged as before";
    return by_before;
  }
  by_before.verdict = verdict::accepted;
  by_before.blocking = false;
  by_before.next.reset();
  by_before.sentence += text("; accepted with this change: ", *why);
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
  judged.row = settled(standard, own, std::move(judged.row), std::move(by_own.row));
  judged.suspect = judged.suspect && judged.row.verdict != verdict::accepted;
  return judged;
}

bool MetricJudge::is_listed(const std::string& case_id, const std::string& metric) const {
  const std::string kind = device_kind(part_.results.env.device_name);
  for (const ListedCase& listed : part_.list.cases) {
    if (listed.id != case_id) continue;
    const auto metrics = listed.devices.find(kind);
    return metrics != listed.devices.end() &&
           std::find(metrics->second.begin(), metrics->second.end(), metric) !=
               metrics->second.end();
  }
  return false;
}

// Why a value must be there; empty where nobody waits for it.
std::string MetricJudge::why_expected(const Standard& standard, const Row& row) const {
  const std::string key = entry_key(row.case_id, row.variant, row.metric);
  for (const auto* baseline : {&part_.baseline, &part_.proposed})
    if (const Entry* entry = find_entry(*baseline, key))
      return text("has an accepted value, ", readable(entry->value, row.unit));
  if (!standard.bounds.empty()) return "has a bound";
  return is_listed(row.case_id, row.metric) ? "is listed" : "";
}

// A device may be unable to give a metric where the policy knows of it; else whatever reason is
// given hides what was to be judged.
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

JudgedMetric MetricJudge::judge_by(Standard standard, const CaseResult& result,
                                   const NamedMetric& metric,
                                   const std::vector<NamedMetric>& all) const {
  if (is_other_patch_level(standard))
    standard.tolerance = std::max(standard.tolerance, *standard.patch_tolerance);
  JudgedMetric judged{.row = new_row(result.id, metric.variant, metric.name)};
  Row& row = judged.row;
  row.kind = standard.kind;
  row.unit = standard.unit;
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
  judged.gates = standard.stored() && standard.gate != Gate::off &&
                 tier_includes("gate", result.tier) && metric.name != handover_metric;
  const bool beyond = judge_absolute(standard, context.measured, row);
  if (beyond) add_accepted(context, row);
  if (!row.blocking) {
    // A bound that only warns, or cannot tell, hides nothing that blocks.
    JudgedMetric relative = judged;
    if (beyond) relative.row = new_row(row, standard);
    judge_relative(context, relative);
    if (!beyond || relative.row.blocking) judged = std::move(relative);
    if (!beyond && row.verdict != verdict::pass && row.verdict != verdict::fresh &&
        !standard.set_by.empty())
      row.evidence["rule"] = standard.set_by;
  }
  waive(standard, row);
  return judged;
}

// Bounds and physical limits, which hold with or without a baseline. True when one is violated, or
// may be.
bool MetricJudge::judge_absolute(const Standard& standard, const Measured& measured,
                                 Row& row) const {
  const auto* number = std::get_if<double>(&*row.value);
  if (!number) return false;
  if (standard.impossible_above && *number > *standard.impossible_above) {
    row.verdict = verdict::suspect_fast;
    row.blocking = true;
    row.limit = *standard.impossible_above;
    row.next = part_.run_again();
    say(row, text("is ", readable(*number, row.unit), ", above ", *standard.impossible_above,
                  ": faster than the hardware allows, so the work or the clock is wrong"));
    return true;
  }
  bool beyond = false;
  for (const Rule* rule : standard.bounds) {
    if (rule->gate == Gate::off) continue;
    Row broken = new_row(row, standard);
    if (!judge_bound(*rule, standard, measured, broken)) continue;
    // Of several the first is told, unless a later one blocks and it does not.
    if (!beyond || (broken.blocking && !row.blocking)) row = std::move(broken);
    beyond = true;
  }
  return beyond;
}

// A count is beyond or not; of a time or a ratio each process has its say.
bool MetricJudge::judge_bound(const Rule& rule, const Standard& standard, const Measured& measured,
                              Row& row) const {
  const double number = std::get<double>(measured.value);
  std::optional<std::string> broken = violation(*rule.bound, number, row.unit);
  const BoundVotes votes = vote(standard, *rule.bound, measured);
  if (votes.beyond == 0 && !broken && votes.enough) return false;
  const bool certain = votes.certain && (!standard.timed() || part_.results.quality.valid);
  row.verdict = certain ? verdict::regression : verdict::noisy;
  row.blocking = rule.gate.value_or(Gate::block) == Gate::block && (certain || undecided_fails_);
  row.limit = rule.bound->min && (!rule.bound->max || number < *rule.bound->min) ? rule.bound->min
                                                                                 : rule.bound->max;
  row.evidence["rule"] = rule.place;
  row.next = certain ? text("holdfast policy ", row.case_id, " --device-class=", row.device_class)
                     : part_.run_again();
  if (!broken) broken = text("is ", readable(number, row.unit), ", within its bound");
  if (!certain)
    *broken += text("; undecided: ", votes.beyond, " of ", votes.all, " processes ",
                    votes.beyond == 1 ? "is" : "are", " beyond it",
                    votes.enough ? "" : text(", and a decision needs ", enough_processes),
                    part_.results.quality.valid ? "" : ", and the measurement is invalid");
  say(row, *broken);
  return true;
}

// What was accepted, beside a violated bound: the limit is then a change, as the verdict's readers
// take it.
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

// Holds a suspect against its control: the reference variant, which the change did not mean to
// touch.
void MetricJudge::judge_control(const Context& context, const Judgement& judgement,
                                JudgedMetric& judged) const {
  Row& row = judged.row;
  judged.suspect = true;
  judged.machine_possible = true;
  const Entry* before =
      find_entry(part_.baseline, entry_key(context.result.id, "reference", "time_s"));
  const NamedMetric* control = find_measured(context.all, "reference", "time_s");
  if (!before || !control || row.variant == "reference") return;
  const auto then = positive(before->value), now = positive(control->measured->value);
  if (!then || !now) return;
  const double moved = std::log(*now / *then);
  // A reference that became faster lowers the speedup; one that became slower excuses a slower
  // variant.
  const double excuse = context.standard.kind == "ratio" ? -moved : moved;
  const bool explained = judgement.worsening - excuse <= judgement.log_limit;
  judged.machine_possible = std::abs(moved) >= judgement.worsening / 2;
  row.evidence["control"] = text("reference time ", percent(std::expm1(moved)),
                                 explained                 ? " -> it moved as much"
                                 : judged.machine_possible ? " -> the machine may have a part in it"
                                                           : " -> not the machine");
  if (!explained) return;
  const SameCode same = compare_code(context);
  if (same == SameCode::as_counted)
    row.evidence["code"] = text("a step executes the same instructions in the ", counted_isa,
                                " code, which tells little of the ",
                                part_.results.env.isa.value_or("other"), " code that was timed");
  if (same != SameCode::yes) return;
  row.verdict = verdict::environment;
  row.next = part_.run_again();
  row.blocking = false;
  row.sentence +=
      "; the compiled code is identical and the reference moved as much: the machine, not the code";
  judged.suspect = false;
}

// Device code has a hash. Of host code the instructions that a step executes tell as much, where
// the code that was counted is the one that was timed.
MetricJudge::SameCode MetricJudge::compare_code(const Context& context) const {
  SameCode same = SameCode::unknown;
  for (const NamedMetric& metric : context.all) {
    const bool counted = metric.name == instructions_metric;
    if ((metric.name != "identity" && !counted) || !metric.measured) continue;
    const Entry* before =
        find_entry(part_.baseline, entry_key(context.result.id, metric.variant, metric.name));
    if (!before || before->value != metric.measured->value) return SameCode::no;
    if (counted && part_.results.env.isa != counted_isa)
      same = SameCode::as_counted;
    else if (same == SameCode::unknown)
      same = SameCode::yes;
  }
  return same;
}

void MetricJudge::add_code_evidence(const Context& context, Row& row) const {
  const std::string variant = row.variant == case_variant ? "optimized" : row.variant;
  const Entry* before = find_entry(part_.baseline, entry_key(row.case_id, variant, kernels_metric));
  const NamedMetric* now = find_measured(context.all, variant, kernels_metric);
  if (!before || !now || !std::holds_alternative<std::string>(before->value)) return;
  row.evidence["code"] = compare_kernels(std::get<std::string>(before->value),
                                         std::get<std::string>(now->measured->value));
}

// Whether the compilers of now and of the baseline are that alike, for a metric that allows for it.
bool MetricJudge::is_other_patch_level(const Standard& standard) const {
  return standard.patch_tolerance && part_.baseline &&
         differ_in_patch_level(part_.baseline->fingerprint.compiler, part_.results.env.compiler);
}

// A metric that depends on a tool's version says nothing about our code once that version has
// changed.
void MetricJudge::excuse_changed_tools(const Standard& standard, Row& row) const {
  using Member = std::optional<std::string> Fingerprint::*;
  constexpr std::array<std::pair<const char*, Member>, 4> members = {
      {{"nvrtc", &Fingerprint::nvrtc},
       {"nvjitlink", &Fingerprint::nvjitlink},
       {"driver", &Fingerprint::driver},
       {"compiler", &Fingerprint::compiler}}};
  const Fingerprint now = fingerprint(part_.results.env);
  const Fingerprint& before = part_.baseline->fingerprint;
  for (const std::string& name : standard.same) {
    for (const auto& [known, member] : members) {
      if (name != known || before.*member == now.*member) continue;
      if (name == "compiler" && is_other_patch_level(standard)) continue;
      row.verdict = verdict::environment;
      row.blocking = false;
      row.sentence += text("; environment changed: ", name, " ", (before.*member).value_or("none"),
                           " -> ", (now.*member).value_or("none"));
      return;
    }
  }
}

std::vector<Row> MetricJudge::judge_sums(const CaseResult& result,
                                         const std::vector<NamedMetric>& all) const {
  std::vector<Row> rows;
  const std::string& on = part_.device_class();
  for (const auto& [variant, content] : result.variants) {
    const std::vector<Sum> own = policy_.own_sums(result.id, on, variant);
    for (const Sum& sum : policy_.sums(result.id, on, variant)) {
      const auto row = judge_sum(sum, result, variant, all);
      if (!row) continue;
      const auto same = std::find_if(own.begin(), own.end(),
                                     [&](const Sum& one) { return one.metrics == sum.metrics; });
      const Sum without{.name = sum.name, .metrics = sum.metrics};
      const Sum& now = same == own.end() ? without : *same;
      rows.push_back(policy_.has_precedent()
                         ? settled(sum.standard, now.standard, *row,
                                   judge_sum(now, result, variant, all).value_or(*row))
                         : *row);
    }
  }
  return rows;
}

// Empty where not all of its metrics were measured, each of which is then told.
std::optional<Row> MetricJudge::judge_sum(const Sum& sum, const CaseResult& result,
                                          const std::string& variant,
                                          const std::vector<NamedMetric>& all) const {
  double total = 0;
  Row row = new_row(result.id, variant, sum.name);
  row.kind = sum.standard.kind;
  for (const std::string& name : sum.metrics) {
    const NamedMetric* metric = find_measured(all, variant, name);
    if (!metric) return std::nullopt;
    total += std::get<double>(metric->measured->value);
    row.unit = policy_.standard(result.id, part_.device_class(), variant, name, metric->kind).unit;
  }
  row.value = total;
  Standard standard = sum.standard;
  standard.unit = row.unit;
  if (!judge_absolute(standard, {.value = total}, row)) {
    row.verdict = verdict::pass;
    say(row, text("is ", readable(total, row.unit), ", within its bound"));
  }
  waive(standard, row);
  return row;
}

}  // namespace holdfast::gate
