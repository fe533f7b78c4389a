// SPDX-License-Identifier: Apache-2.0
#include "gate/accept/accept.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "gate/accept/accepted_runs.hpp"
#include "gate/accept/entry_of_runs.hpp"
#include "gate/base/numbers.hpp"
#include "gate/documents/kernel_table.hpp"
#include "gate/documents/measured.hpp"
#include "gate/documents/measured_part.hpp"
#include "gate/documents/verdict_names.hpp"
#include "gate/judge/loosening.hpp"
#include "gate/judge/metric.hpp"
#include "gate/judge/screening.hpp"
#include "gate/judge/surroundings.hpp"
#include "gate/judge/suspects.hpp"

namespace holdfast::gate {
namespace {

bool is_gated(const CaseResult& result) {
  return result.status == "ok" && tier_includes("gate", result.tier);
}

std::string spread(const Measured& measured) {
  return percent(measured.mad_between.value_or(0) / std::get<double>(measured.value));
}

// The state of one acceptance while it walks over the metrics.
struct Accepting {
  const std::vector<AcceptedRun>& runs;  // the cases of the first are walked over
  const std::optional<Baseline>& existing;
  const std::optional<Baseline>& judging;  // the view by which a check judges the run
  const Policy& policy;
  const AcceptOptions& options;
  Acceptable& accepted;

  const Results& results() const { return runs.front().results; }

  // The entry that a metric gets; empty for a metric that is not stored. Notes the change and, if
  // it must be refused, why.
  std::optional<Entry> entry(const CaseResult& result, const NamedMetric& metric,
                             const std::string& key) const {
    const Standard standard = is_evidence(metric)
                                  ? Standard{.kind = "codegen", .better = Better::same}
                                  : policy.standard(result.id, results().env.device_class,
                                                    metric.variant, metric.name, metric.kind);
    const Entry* before = nullptr;
    if (existing)
      if (const auto at = existing->entries.find(key); at != existing->entries.end())
        before = &at->second;
    std::optional<Entry> next = next_entry(result, metric, standard, before, key);
    if (next && options.anchor == Anchor::here) move_anchor(standard, before, key, *next);
    return next;
  }

 private:
  static bool is_evidence(const NamedMetric& metric) { return metric.name == kernels_metric; }

  std::optional<Entry> next_entry(const CaseResult& result, const NamedMetric& metric,
                                  const Standard& standard, const Entry* before,
                                  const std::string& key) const {
    const bool evidence = is_evidence(metric);
    // A metric on request that this run did not ask for keeps its accepted entry.
    if (!metric.measured && !standard.on_request.empty() && before) return *before;
    if (!metric.measured || !standard.stored() || (!evidence && standard.gate == Gate::off))
      return std::nullopt;
    if (standard.timed() && options.counts_only)
      return before ? std::optional(*before) : std::nullopt;
    if (!standard.timed()) {
      if (!evidence) expect_equal_counts(standard, *metric.measured, key);
      return before ? next_count(standard, result, metric, *before, key)
                    : new_count(*metric.measured, key);
    }
    const std::vector<const AcceptedRun*> of = best_shown(runs, standard, key);
    if (of.empty()) {
      refuse(metric.measured->processes == 0
                 ? text(key, " was disturbed by other work in every process: measure again on a ",
                        "quieter machine", counts_remain)
                 : text(key, " is noisy: its processes differ by ", spread(*metric.measured),
                        counts_remain));
      return before ? std::optional(*before) : std::nullopt;
    }
    Entry made =
        before ? next_time(standard, *before, key, of) : timed_entry(key, of, reason_of_new());
    if (!before)
      accepted.changes.push_back({.key = key,
                                  .after = made.value,
                                  .asks_why = what_other_state_asks(standard, made, key)});
    expect_a_limit(standard, made, key);
    return made;
  }

  std::string reason(const char* plain) const {
    return options.why.empty() ? std::string(plain) : options.why;
  }
  std::string reason_of_new() const { return reason(existing ? unasked::added : unasked::first); }

  void refuse(const std::string& because) const {
    accepted.refusals.push_back({.exit = exit_code(Fault::undecided), .why = because});
  }

  void expect_equal_counts(const Standard& standard, const Measured& here,
                           const std::string& key) const {
    for (const AcceptedRun& run : runs) {
      const auto there = run.metrics.find(key);
      const bool has_it = there != run.metrics.end();
      if (has_it ? judge_exact(standard, there->second, here.value).verdict == verdict::pass
                 : !standard.on_request.empty())
        continue;
      const auto [one, other] =
          told_apart(here.value, has_it ? there->second.value : here.value, standard.unit);
      refuse(text(key, " is ", one, " in the run ", results().run.id, " and ",
                  has_it ? other : "absent", " in ", run.results.run.id,
                  ": a count that differs between runs of one build is no baseline"));
    }
  }

  // Refuses a blocking entry whose limit is too wide to decide anything.
  void expect_a_limit(const Standard& standard, const Entry& made, const std::string& key) const {
    if (standard.gate != Gate::block) return;
    const double limit = screening_limit(standard.tolerance, made);
    if (limit <= widest_limit) return;
    const auto [least, most] = std::minmax_element(made.medians.begin(), made.medians.end());
    refuse(
        text(key, " was ", readable(*least, standard.unit), " to ", readable(*most, standard.unit),
             " in ", plural(made.medians.size(), "run"),
             ", which leaves no limit to hold it to; measure on a quieter machine, or let it warn "
             "in the policy"));
  }

  struct Judged {
    std::string verdict;
    bool asks_why = false;
  };

  // Between patch levels of one compiler a value may move without being worse; the next check
  // compares with the new compiler's value.
  Judged judged(const Standard& standard, const Measured& measured, const Entry& before) const {
    const std::string verdict = judge(standard, measured, before).verdict;
    if (!standard.patch_tolerance ||
        !differ_in_patch_level(existing->fingerprint.compiler, results().env.compiler))
      return {.verdict = verdict,
              .asks_why = verdict != verdict::improved && verdict != verdict::drift};
    Standard patched = standard;
    patched.tolerance = std::max(standard.tolerance, *standard.patch_tolerance);
    return {.verdict = measured.value == before.value ? verdict::pass : verdict::drift,
            .asks_why = judge(patched, measured, before).verdict == verdict::regression};
  }

  // Why a change with this verdict needs a reason; "worse" only if it is worse by the metric's own
  // direction.
  static std::string what_asks(const Standard& standard, const Entry& before, const Entry& after,
                               const std::string& verdict) {
    const auto *then = std::get_if<double>(&before.value), *now = std::get_if<double>(&after.value);
    const double rise = then && now ? *now - *then : 0;
    if (standard.better == Better::higher ? rise < 0 : standard.better == Better::lower && rise > 0)
      return "worse";
    return verdict == verdict::noisy        ? "undecided"
           : verdict == verdict::regression ? "changed"
                                            : "a gain that can be a loss";
  }

  // Why the first value of a processor's state needs a reason: a check holds it against that of the
  // other state, and finds a loss that the hand-over time does not explain.
  std::string what_other_state_asks(const Standard& standard, const Entry& made,
                                    const std::string& key) const {
    const Entry* other = find_entry(judging, key);
    if (!other || metric_of(key) == handover_metric) return "";
    const Measured measured{.value = made.value, .processes = enough_processes};
    if (!judge(standard, measured, *other).suspect()) return "";
    const std::string handover = entry_key(entry_name(key).case_id, case_variant, handover_metric);
    const Entry* then = find_entry(judging, handover);
    const auto now = runs.front().metrics.find(handover);
    const bool is_explained = then && now != runs.front().metrics.end() &&
                              stand_otherwise(std::get<double>(then->value),
                                              std::get<double>(now->second.value), standard.kind);
    if (is_explained) return "";
    const auto [before, after] = told_apart(other->value, made.value, standard.unit);
    return text("worse than ", before, ", accepted where threads stood otherwise");
  }

  // A limit, or that of drift, that becomes more than twice as wide, in the words that a check of
  // the change uses; else empty.
  static std::string what_widens(const Standard& standard, const Entry& before,
                                 const Entry& after) {
    for (const StandardChange& change : compare(standard, before, after, {}))
      if (change.what == "limit" || change.what == "drift limit")
        return text(change.what, " from ", change.before, " to ", change.after);
    return "";
  }

  // An anchor from which less counts as drift, in the words that a check of the change uses; else
  // empty.
  static std::string what_worsens_anchor(const Standard& standard, const Entry& before,
                                         const Entry& after) {
    for (const StandardChange& change : compare(standard, before, after, {}))
      if (change.what == "anchor" && after.anchor) {
        const auto [then, now] = told_apart(*before.anchor, *after.anchor, standard.unit);
        return text("anchor from ", then, " to ", now);
      }
    return "";
  }

  // Makes the entry's value the anchor of drift. A given reason covers the anchor too.
  void move_anchor(const Standard& standard, const Entry* before, const std::string& key,
                   Entry& entry) const {
    if (!entry.anchor || *entry.anchor == std::get<double>(entry.value)) return;
    entry.anchor = std::get<double>(entry.value);
    if (!options.why.empty()) entry.accepted.why = options.why;
    const std::string worse =
        before ? what_worsens_anchor(standard, *before, entry) : std::string();
    if (worse.empty()) return;
    if (accepted.changes.empty() || accepted.changes.back().key != key)
      return note(key, *before, entry, worse);
    std::string& asks_why = accepted.changes.back().asks_why;
    add_to(asks_why, worse);
  }

  void note(const std::string& key, const Entry& before, const Entry& after,
            const std::string& asks_why) const {
    accepted.changes.push_back(
        {.key = key, .before = before.value, .after = after.value, .asks_why = asks_why});
  }

  Entry new_count(const Measured& measured, const std::string& key) const {
    const Entry first = counted_entry(measured.value, results(), reason_of_new());
    accepted.changes.push_back({.key = key, .after = first.value});
    return first;
  }

  // Whether an improvement may be paid for by another metric, so that accepting it needs a reason.
  bool is_paid_for(const Standard& standard, const CaseResult& result, const NamedMetric& metric,
                   const Entry& before) const {
    if (standard.fall_is_change.empty()) return false;
    const std::vector<NamedMetric> all = named_metrics(result);
    const Surroundings around{.policy = policy,
                              .device_class = results().env.device_class,
                              .case_id = result.id,
                              .all = all,
                              .accepted = existing->entries};
    return judge_among(around, metric, standard, before).verdict == verdict::changed;
  }

  // As evidence it would excuse a later loss, so that a check elsewhere calls it a loosening.
  bool gives_other_arguments(const CaseResult& result, const std::string& variant,
                             const Entry& before) const {
    const auto& [identity, kernels, metrics] = result.variants.at(variant);
    const Entry* code = find_entry(existing, entry_key(result.id, variant, "identity"));
    const auto* then = std::get_if<std::string>(&before.value);
    return then && code && identity && code->value == Value(*identity) &&
           !keeps_arguments(*then, kernel_table(kernels));
  }

  Entry next_count(const Standard& standard, const CaseResult& result, const NamedMetric& metric,
                   const Entry& before, const std::string& key) const {
    const Measured& measured = *metric.measured;
    const Judged found = judged(standard, measured, before);
    if (found.verdict == verdict::pass) return before;
    Entry entry = counted_entry(measured.value, results(), reason(unasked::better));
    entry.accepted.previous = before.value;
    if (is_evidence(metric)) {
      const bool asks = gives_other_arguments(result, metric.variant, before);
      note(key, before, entry, asks ? "other arguments of the same code" : "");
      return entry;
    }
    const bool asks_why = found.asks_why || is_paid_for(standard, result, metric, before);
    note(key, before, entry,
         asks_why ? what_asks(standard, before, entry, found.verdict) : std::string());
    return entry;
  }

  // A bootstrap entry takes in runs with too few processes to decide anything, unless it knows a
  // spread between processes and the run shows none.
  static bool takes_in(const Entry& before, const Measured& measured) {
    return before.bootstrap && measured.processes < enough_processes &&
           (before.mad_between.value_or(0) == 0 || measured.mad_between.value_or(0) > 0);
  }
  static bool is_near(const Standard& standard, const Measured& measured, const Entry& before) {
    const double now = std::get<double>(measured.value), then = std::get<double>(before.value);
    return now > 0 && then > 0 &&
           std::abs(std::log(now / then)) <= screening_limit(standard.tolerance, before);
  }

  // Whether every variant behind the time or ratio has the accepted machine code: then another
  // value is due to another day. False where no machine code is known.
  bool is_of_the_same_code(const std::string& key, const AcceptedRun& run,
                           const Entry& before) const {
    const EntryName name = entry_name(key);
    const bool of_case = name.variant == case_variant;
    if (of_case && name.metric != "speedup") return false;  // made of other cases, too
    const auto variants = of_case ? std::vector<std::string>{"optimized", "reference"}
                                  : std::vector<std::string>{name.variant};
    return std::ranges::all_of(variants, [&](const std::string& one) {
      const std::string identity = entry_key(name.case_id, one, "identity");
      const auto accepted = existing->entries.find(identity);
      const auto now = run.metrics.find(identity);
      return accepted != existing->entries.end() && now != run.metrics.end() &&
             accepted->second.value == now->second.value &&
             accepted->second.accepted.utc <= before.accepted.utc;
    });
  }

  // Runs of `more` that agree on their own join the entry. The others, which the median hides, stay
  // out and are reported: each would widen the limit until it passes.
  Entry joined(const Standard& standard, const Entry& before, const std::string& key,
               const std::vector<const AcceptedRun*>& more) const {
    Entry entry = before;
    for (const AcceptedRun* run : more) {
      const Measured& measured = run->metrics.at(key);
      const bool near = is_near(standard, measured, before);
      if (near && (measured.processes >= enough_processes || takes_in(before, measured)))
        entry = with_run(entry, key, *run);
      else
        accepted.left_out.push_back(text(
            key, " of the run ", run->results.run.id, ", ", readable(measured.value, standard.unit),
            near ? ": too few processes" : ": beyond the limit of the accepted ",
            near ? std::string() : readable(before.value, standard.unit)));
    }
    if (const std::string widens = what_widens(standard, before, entry); !widens.empty()) {
      if (!options.why.empty()) entry.accepted.why = options.why;
      note(key, before, entry, widens);
    }
    return entry;
  }

  Entry next_time(const Standard& standard, const Entry& before, const std::string& key,
                  const std::vector<const AcceptedRun*>& of) const {
    const std::vector<const AcceptedRun*> more = fresh(of, before);
    if (more.empty()) return before;
    // The median of all runs, so that a run that was left out once is left out again.
    Measured middle = more.front()->metrics.at(key);
    std::vector<double> values;
    for (const AcceptedRun* run : of)
      values.push_back(std::get<double>(run->metrics.at(key).value));
    middle.value = median(values);
    const Judged found = judged(standard, middle, before);
    const auto all = [&](const auto& holds) { return std::ranges::all_of(more, holds); };
    const bool joins = found.verdict == verdict::noisy && all([&](const AcceptedRun* run) {
                         return takes_in(before, run->metrics.at(key));
                       });
    if (found.verdict == verdict::pass || found.verdict == verdict::drift ||
        (joins && all([&](const AcceptedRun* run) {
           return is_near(standard, run->metrics.at(key), before);
         })))
      return is_timed(before) ? joined(standard, before, key, more) : before;
    Entry entry = before;
    if (joins && is_timed(before) &&
        all([&](const AcceptedRun* run) { return is_of_the_same_code(key, *run, before); })) {
      for (const AcceptedRun* run : more) entry = with_run(entry, key, *run);
      entry.accepted.why = reason(unasked::another_day);
    } else {
      entry = timed_entry(key, more, reason(unasked::better));
      entry.accepted.previous = before.value;
      // A loss accepted with a reason still counts as drift, even when part of it is regained; a
      // gain beyond the anchor becomes the new anchor.
      if (before.anchor &&
          (found.asks_why || !what_worsens_anchor(standard, before, entry).empty()))
        entry.anchor = before.anchor;
    }
    note(key, before, entry,
         found.asks_why ? what_asks(standard, before, entry, found.verdict)
                        : what_widens(standard, before, entry));
    return entry;
  }
};

using Keys = std::set<std::string>;

// Cases that were not measured keep their entries.
void keep_unmeasured(const Baseline& view, const std::set<std::string>& unmeasured,
                     Keys& passed_over, Acceptable& accepted) {
  std::set<std::string> cases;
  for (const auto& [processor, entries] : by_processor(view))
    for (const auto& [key, entry] : *entries) {
      const std::string id = entry_name(key).case_id;
      if (!unmeasured.contains(id)) continue;
      cases.insert(id);
      passed_over.insert(key);
      if (processor.empty()) accepted.baseline.entries.emplace(key, entry);
    }
  if (!cases.empty())
    accepted.left_out.push_back(
        text(cases.size() == 1 ? "" : plural(cases.size(), "case") + " such as ", *cases.begin(),
             ": not measured in this run"));
}

// Drops entries that are no longer measured, those of other processors too, but none that was
// measured and passed over.
void drop_lost_entries(const Baseline& view, const Keys& passed_over, Acceptable& accepted) {
  Keys kept = passed_over;
  for (const auto& [key, entry] : accepted.baseline.entries) kept.insert(key);
  const auto lost = [&](const Entries& entries, const std::string& whose) {
    for (const auto& [key, entry] : entries)
      if (!kept.contains(key))
        accepted.changes.push_back(
            {.key = key + whose, .before = entry.value, .asks_why = "removed"});
  };
  lost(view.entries, "");
  for (const auto& [processor, entries] : view.processors) {
    lost(entries, text(" (", processor, ")"));
    Entries& others = accepted.baseline.processors[processor] = entries;
    std::erase_if(others, [&](const auto& held) { return !kept.contains(held.first); });
  }
  std::erase_if(accepted.baseline.processors, [](const auto& held) { return held.second.empty(); });
}

// A metric whose meaning changed may be judged by other rules, or by none.
void note_meanings(const Meanings& before, const Meanings& now, Acceptable& accepted) {
  for (const auto& [name, meaning] : before)
    if (const auto at = now.find(name); at != now.end() && at->second != meaning)
      accepted.changes.push_back({.key = name,
                                  .before = text_of(meaning),
                                  .after = text_of(at->second),
                                  .asks_why = "another meaning"});
}

}  // namespace

Acceptable accept(const Results& results, const std::optional<Baseline>& existing,
                  const Policy& policy, const AcceptOptions& options) {
  Acceptable accepted{.baseline = {.device_class = results.env.device_class,
                                   .fingerprint = fingerprint(results.env)}};
  std::optional<Baseline> view = existing, judging = existing;
  if (view) view = seen_on(timed_on(results), std::move(*view));
  if (judging) judging = judged_by(results, std::move(*judging));
  std::vector<AcceptedRun> runs = {AcceptedRun(results)};
  for (const Results& other : options.again) runs.emplace_back(other);
  for (const AcceptedRun& run : runs)
    if (run.timed_on != runs.front().timed_on && !options.counts_only)
      accepted.left_out.push_back(text("times and ratios of the run ", run.results.run.id,
                                       ", which are of ", run.timed_on, " and not of ",
                                       runs.front().timed_on));
  const Accepting accepting{runs, view, judging, policy, options, accepted};
  Keys passed_over;
  for (const CaseResult& result : results.cases) {
    if (!is_gated(result)) continue;
    for (const NamedMetric& metric : named_metrics(result)) {
      const std::string key = entry_key(result.id, metric.variant, metric.name);
      const auto entry = accepting.entry(result, metric, key);
      if (!entry) {
        if (metric.measured && options.counts_only) passed_over.insert(key);
        continue;
      }
      accepted.baseline.entries[key] = *entry;
    }
  }
  if (view) keep_unmeasured(*view, options.unmeasured, passed_over, accepted);
  if (view) drop_lost_entries(*view, passed_over, accepted);
  if (view) note_meanings(view->metrics, policy.metrics(), accepted);
  keep_metrics(accepted.baseline, policy.metrics());
  accepted.baseline = stored_from(timed_on(results), std::move(accepted.baseline));
  return accepted;
}

}  // namespace holdfast::gate
