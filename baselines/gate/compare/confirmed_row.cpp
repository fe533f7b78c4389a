// SPDX-License-Identifier: Apache-2.0
#include "gate/compare/confirmed_row.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "gate/base/numbers.hpp"
#include "gate/documents/verdict_names.hpp"
#include "gate/judge/metric.hpp"
#include "gate/judge/screening.hpp"

namespace holdfast::gate {
namespace {

void keep_screening(Row& row) {
  std::string screened = text(told_verdict(row), row.blocking ? " (blocking)" : "");
  if (const auto control = row.evidence.find("control"); control != row.evidence.end())
    screened += "; " + control->second;
  row.evidence["screening"] = screened;
}

// Sets the resolution to what this comparison could have shown, in place of screening's estimate; a
// bound may show a smaller loss.
void resolve(Row& row, const Comparison& found, double tolerance) {
  const double shown = found.clock != Clock::by_load && std::isfinite(found.shift.lower)
                           ? smallest_shown(found.shift, tolerance)
                           : std::numeric_limits<double>::infinity();
  if (row.resolved_by == held_against::bound && row.resolution && *row.resolution <= shown) return;
  row.resolution = std::isfinite(shown) ? std::optional(shown) : std::nullopt;
  row.resolved_by = !row.resolution                          ? ""
                    : row.standard == held_against::accepted ? held_against::accepted
                                                             : held_against::beside;
}

void tell_control(Row& row, const Comparison& found) {
  if (!found.control) {
    row.evidence.erase("control");
    return;
  }
  row.evidence["control"] =
      text("reference variant ", percent(std::expm1(found.control->estimate)), " in the same pairs",
           found.decision == Paired::environment  ? " -> it moved as much"
           : found.decision != Paired::regression ? ""
           : 2 * found.control->estimate < found.shift.estimate
               ? " -> not the machine"
               : " -> the machine may have a part in it");
}

// Whether the bound that made the row blocks.
bool is_of_blocking_bound(const Row& row, const Standard& standard) {
  const auto place = row.evidence.find("rule");
  return place != row.evidence.end() && std::ranges::any_of(standard.bounds, [&](const Rule* rule) {
           return rule->place == place->second && rule->gate.value_or(Gate::block) == Gate::block;
         });
}

// A bound that only warns hides no loss beside the base that is beyond the rule for those as well.
Terms terms_by(const Row& row, Standard standard) {
  Terms terms{.tolerance = standard.compared_tolerance(),
              .blocks = standard.blocks_once_compared()};
  if (row.standard == held_against::bound) {
    constexpr double least = Standard::least_compared_tolerance;
    terms.blocks =
        is_of_blocking_bound(row, standard) || (terms.blocks && terms.tolerance <= least);
    terms.tolerance = least;
  }
  terms.standard = std::move(standard);
  return terms;
}

// The terms are not mixed: what neither rule fails by itself, no comparison fails.
bool is_stricter(const Terms& own, const Terms& before) {
  if (!own.blocks || own.standard.waiver) return false;
  return !before.blocks || before.standard.waiver || own.tolerance < before.tolerance;
}

}  // namespace

Terms terms_of(const Row& row, const Part& part, const Policy& policy) {
  const std::string& on = part.device_class();
  Terms before = terms_by(row, policy.standard(row.case_id, on, row.variant, row.metric, row.kind));
  if (!policy.is_precedent(row.case_id, on, row.variant, row.metric, row.kind)) return before;
  Terms own =
      terms_by(row, policy.own_standard(row.case_id, on, row.variant, row.metric, row.kind));
  return is_stricter(own, before) ? own : before;
}

const Entry* ConfirmedRows::entry(const Row& row) const {
  return find_entry(part_.baseline, entry_key(row.case_id, row.variant, row.metric));
}

// Two builds of one content cannot show a loss that came before it. If the value was accepted from
// that content, flags or an old hash may still set the builds apart.
bool ConfirmedRows::is_lost_before(const Row& row) const {
  return is_unchanged() && !has_base_of_the_hour(row) && !is_accepted_from_base(row);
}

bool ConfirmedRows::has_base_of_the_hour(const Row& row) const {
  return row.standard == held_against::beside ||
         (row.standard == held_against::bound && part_.beside);
}

bool ConfirmedRows::is_accepted_from_base(const Row& row) const {
  return entry(row) && entry(row)->accepted.content == base_content_;
}

// A time only warns where its baseline is of another hour.
bool ConfirmedRows::leave_open(Row& row) {
  const Terms held = terms(row);
  const bool is_loss = row.verdict == verdict::regression || row.verdict == verdict::noisy;
  if (!is_loss || row.blocking || row.standard != held_against::beside ||
      row.variant == "reference" || !held.blocks)
    return false;
  keep_screening(row);
  row.verdict = verdict::noisy;
  row.blocking = undecided_fails_;
  row.next = part_.run_again();
  row.sentence += "; undecided, because nothing compared it";
  waive(held.standard, row);
  return true;
}

void ConfirmedRows::note(Row& row, const std::string& why) {
  row.evidence["not confirmed"] = why;
  const std::string screened = told_verdict(row);
  const bool is_open = leave_open(row);
  notes_.push_back(text("not confirmed, so screening's ", screened,
                        is_open ? " is undecided: " : " stands: ", row.case_id, ' ', row.metric,
                        ": ", why));
}

void ConfirmedRows::lose(Row& row, const std::string& why) {
  if (row.verdict == verdict::regression && row.blocking) {
    note(row, why);
    return;
  }
  keep_screening(row);
  row.evidence["not confirmed"] = why;
  row.verdict = verdict::missing;
  row.blocking = true;
  row.next = part_.run_again();
  row.sentence += "; it could not be confirmed: " + why;
}

// A comparison shows what changed since the base. If the value was accepted from the base too, that
// is the whole change, a log worsening; if not, only the measurement knows what came in between,
// and its distance from the anchor stays.
void ConfirmedRows::keep_drift(Row& row, double worsening) {
  const Entry* accepted = entry(row);
  if (!accepted || !row.value) return;
  const Standard policy_says = terms(row).standard;
  const double sign = policy_says.better == Better::higher ? -1 : 1;
  const bool since_base = is_accepted_from_base(row);
  const double value = since_base ? std::get<double>(accepted->value) * std::exp(sign * worsening)
                                  : std::get<double>(*row.value);
  if (!since_base)
    row.evidence["base"] =
        text("built from ", readable(base_content_, ""), ", the value was accepted from ",
             readable(accepted->accepted.content, ""), ": what came between is not compared");
  const auto because = drift(policy_says, *accepted, value);
  if (!because) return;
  row.verdict = verdict::drift;
  row.blocking = policy_says.drift_blocks && policy_says.gate == Gate::block;
  row.next = since_base ? part_.explain_command(row.case_id) : part_.run_again();
  row.sentence += "; but it " + *because;
  waive(policy_says, row);
}

void ConfirmedRows::decide(Row& row, const Comparison& found, double tolerance) {
  keep_screening(row);
  row.evidence[confirmation_evidence] = describe(found, tolerance);
  if (terms(row).blocks) resolve(row, found, tolerance);
  tell_control(row, found);
  const std::string said = text("A/B of ", plural(found.units.size(), "unit"), ": ",
                                interval(found.shift), " for the optimized variant");
  const Paired decision = row.metric == "time_s" ? of_time(found) : found.decision;
  if (decision == Paired::regression || decision == Paired::undecided)
    keep_suspect(row, decision == Paired::regression, said);
  else
    clear(row, found, decision, said);
}

void ConfirmedRows::keep_suspect(Row& row, bool is_loss, const std::string& said) {
  const Terms held = terms(row);
  row.verdict = is_loss ? verdict::regression : verdict::noisy;
  // A bound that is still undecided stays as it was screened: the base may be beyond it, too.
  if (is_loss || row.standard != held_against::bound)
    row.blocking = held.blocks && (is_loss || undecided_fails_);
  row.next = is_loss ? part_.explain_command(row.case_id) : part_.run_again();
  row.sentence += text(is_loss ? "; confirmed: " : "; undecided: ", said);
  waive(held.standard, row);
}

void ConfirmedRows::clear(Row& row, const Comparison& found, Paired decision,
                          const std::string& said) {
  if (decision == Paired::environment) {
    row.verdict = verdict::environment;
    row.sentence += "; " + said +
                    ", and the reference moved as much: the machine or the tools, not the variant";
  } else {
    row.verdict = is_unchanged() ? verdict::environment : verdict::pass;
    row.sentence += "; refuted by " + said;
    if (is_unchanged())
      row.sentence +=
          text(has_base_of_the_hour(row) ? ", and both builds are of one content ("
                                         : ", and the value was accepted from this very content (",
               readable(base_content_, ""), "), so it is the machine or the tools");
  }
  row.blocking = false;
  row.next.reset();
  const bool is_ratio = row.metric != "time_s";
  const double of_reference = is_ratio && found.control ? found.control->estimate : 0;
  keep_drift(row, found.shift.estimate - of_reference);
  // Passing rows appear in no list, but this one was suspected.
  if (row.verdict == verdict::pass)
    notes_.push_back(text("screening suspected, the comparison did not find: ", row.sentence));
}

}  // namespace holdfast::gate
