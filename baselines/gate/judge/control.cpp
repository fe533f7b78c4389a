// SPDX-License-Identifier: Apache-2.0
// What may have changed a metric besides our code: the machine, by the control, or the tools; and
// what the compiled code says.
#include "gate/judge/metric.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "gate/base/numbers.hpp"
#include "gate/documents/kernel_table.hpp"
#include "gate/documents/verdict_names.hpp"
#include "gate/judge/metric_context.hpp"
#include "gate/measure/instruction_counts.hpp"

namespace holdfast::gate {
namespace {

constexpr const char* counts_agree =
    "; undecided, because the reference moved as much and both execute as many instructions as "
    "accepted: another machine of this model, or code that a comparison with a build shows";
constexpr const char* nobody_counts =
    "; undecided, because the reference became as much faster, the optimized variant no slower "
    "than the limit allows, and nobody counts what they execute: another machine of this model, or "
    "code that a comparison with a build shows";

}  // namespace

// Compares a suspect with its control: the reference variant, which the change did not mean to
// touch.
void MetricJudge::judge_control(const Context& context, const Judgement& judgement,
                                JudgedMetric& judged) const {
  Row& row = judged.row;
  judged.suspect = true;
  judged.machine_possible = true;
  const std::string key = entry_key(context.result.id, "reference", "time_s");
  const Entry* accepted = find_entry(part_.baseline, key);
  const Measured* base = row.standard == held_against::beside ? part_.beside->find(key) : nullptr;
  const NamedMetric* control = find_measured(context.all, "reference", "time_s");
  if ((!base && (!accepted || part_.beside)) || !control || row.variant == "reference") return;
  const auto then = positive(base ? base->value : accepted->value),
             now = positive(control->measured->value);
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
  // Beside a base the machine is the same for both: what moved the reference as well is in code or
  // tools that both variants share.
  if (base) return;
  const SameCode same = compare_code(context);
  if (same == SameCode::as_counted)
    row.evidence["code"] = text("a step executes the same instructions in the ", counted_isa,
                                " code, which tells little of the ",
                                part_.results.env.isa.value_or("other"), " code that was timed");
  const bool is_uncounted = same == SameCode::unknown && context.standard.kind == "ratio" &&
                            !is_counted(context.result.id);
  if (same == SameCode::as_counted || is_uncounted) {
    if (row.verdict != verdict::regression) return;
    row.verdict = verdict::noisy;
    row.next = part_.run_again();
    row.blocking = blocks(context, row);
    row.sentence += is_uncounted ? nobody_counts : counts_agree;
    return;
  }
  if (same != SameCode::yes) return;
  row.verdict = verdict::environment;
  row.next = part_.run_again();
  row.blocking = false;
  row.sentence +=
      "; the compiled code is identical and the reference moved as much: the machine, not the code";
  judged.suspect = false;
}

// Whether any variant of the case has accepted instruction counts.
bool MetricJudge::is_counted(const std::string& case_id) const {
  return std::ranges::any_of(std::array{"optimized", "reference"}, [&](const char* variant) {
    return find_entry(part_.baseline, entry_key(case_id, variant, instructions_metric)) != nullptr;
  });
}

// Device code has a hash, and its kernels are given numbers. For host code the number of
// instructions of a step says as much, if it finds its data in the caches as before, and the code
// that was counted is the one that was timed.
MetricJudge::SameCode MetricJudge::compare_code(const Context& context) const {
  for (const char* variant : {"optimized", "reference"})
    if (const auto tables = kernel_tables(context, variant);
        tables && !same_arguments(tables->accepted, tables->now))
      return SameCode::no;
  SameCode same = SameCode::unknown;
  for (const NamedMetric& metric : context.all) {
    const bool counted = metric.name == instructions_metric, cycles = metric.name == cycles_metric;
    if ((metric.name != "identity" && !counted && !cycles) || !metric.measured) continue;
    const Entry* before =
        find_entry(part_.baseline, entry_key(context.result.id, metric.variant, metric.name));
    if (cycles) {
      if (before && judge(context.result, metric, context.all).row.verdict != verdict::pass)
        return SameCode::no;
      continue;
    }
    if (!before || before->value != metric.measured->value) return SameCode::no;
    if (counted && part_.results.env.isa != counted_isa)
      same = SameCode::as_counted;
    else if (same == SameCode::unknown)
      same = SameCode::yes;
  }
  return same;
}

std::optional<MetricJudge::KernelTables> MetricJudge::kernel_tables(
    const Context& context, const std::string& variant) const {
  const Entry* before =
      find_entry(part_.baseline, entry_key(context.result.id, variant, kernels_metric));
  const NamedMetric* now = find_measured(context.all, variant, kernels_metric);
  if (!before || !now || !std::holds_alternative<std::string>(before->value)) return std::nullopt;
  return KernelTables{.accepted = std::get<std::string>(before->value),
                      .now = std::get<std::string>(now->measured->value)};
}

void MetricJudge::add_code_evidence(const Context& context, Row& row) const {
  if (const auto tables =
          kernel_tables(context, row.variant == case_variant ? "optimized" : row.variant))
    row.evidence["code"] = compare_kernels(tables->accepted, tables->now);
}

// Whether the compiler differs only in patch level from the baseline's, for a metric with a
// tolerance for that.
bool MetricJudge::is_other_patch_level(const Standard& standard) const {
  return standard.patch_tolerance && part_.baseline &&
         differ_in_patch_level(part_.baseline->fingerprint.compiler, part_.results.env.compiler);
}

// A metric that depends on a tool's version says nothing about our code once that version has
// changed. Nobody accepted the tools of a base beside the run, nor those where nothing is accepted.
void MetricJudge::excuse_changed_tools(const Standard& standard, Row& row) const {
  if (!part_.baseline || row.standard == held_against::beside) return;
  const Fingerprint now = fingerprint(part_.results.env);
  const Fingerprint& before = part_.baseline->fingerprint;
  for (const std::string& name : standard.same) {
    for (const auto& [known, member] : known_tools) {
      if (name != known || before.*member == now.*member) continue;
      if (name == "compiler" && is_other_patch_level(standard)) continue;
      // Older results and baselines lack it, which excuses nothing.
      if (name == "nvdisasm" && (!before.nvdisasm || !now.nvdisasm)) continue;
      row.verdict = verdict::environment;
      row.blocking = false;
      row.sentence += text("; environment changed: ", name, " ", (before.*member).value_or("none"),
                           " -> ", (now.*member).value_or("none"));
      return;
    }
  }
}

}  // namespace holdfast::gate
