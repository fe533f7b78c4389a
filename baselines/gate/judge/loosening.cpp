// SPDX-License-Identifier: Apache-2.0
#include "gate/judge/loosening.hpp"
#include "gate/base/shown_text.hpp"

#include <algorithm>
#include <cmath>

#include "gate/base/numbers.hpp"
#include "gate/documents/measured.hpp"
#include "gate/documents/verdict_names.hpp"
#include "gate/judge/screening.hpp"

namespace holdfast::gate {
namespace {

Gate gate_of(const Rule& bound) {
  return bound.gate.value_or(Gate::block);
}

// Gate's enumerators begin with the strictest.
bool is_at_least_as_strict(Gate gate, Gate than) {
  return gate <= than;
}

// In as many digits as distinguish it from `other`; "none" without a number.
std::string told_beside(const std::optional<double>& number, const std::optional<double>& other,
                        const std::string& unit) {
  return number ? told_apart(*number, other.value_or(*number), unit).first : "none";
}

// What the bound of a rule says, with digits that distinguish it from `other`, if given.
std::string text_of(const Rule& rule, const Rule* other, const std::string& unit) {
  const Bound& bound = *rule.bound;
  const Bound& beside = other ? *other->bound : bound;
  std::string said;
  if (bound.min) said += text(", at least ", told_beside(bound.min, beside.min, unit));
  if (bound.max) said += text(", at most ", told_beside(bound.max, beside.max, unit));
  if (gate_of(rule) != Gate::block) said += text(", ", name_of(gate_of(rule)));
  return said.substr(2);
}

// Whether `bounds` enforce all that `bound` does.
bool is_kept(const Rule& bound, const std::vector<const Rule*>& bounds) {
  if (gate_of(bound) == Gate::off) return true;
  const auto any = [&](const auto& keeps) {
    return std::any_of(bounds.begin(), bounds.end(), [&](const Rule* other) {
      return is_at_least_as_strict(gate_of(*other), gate_of(bound)) && keeps(*other->bound);
    });
  };
  const auto &min = bound.bound->min, &max = bound.bound->max;
  return (!min || any([&](const Bound& other) { return other.min && *other.min >= *min; })) &&
         (!max || any([&](const Bound& other) { return other.max && *other.max <= *max; }));
}

// The rule that replaces `bound`: for the same cases and the same metric.
const Rule* successor(const Rule& bound, const std::vector<const Rule*>& bounds) {
  const auto at = std::find_if(bounds.begin(), bounds.end(), [&](const Rule* other) {
    return other->match == bound.match && other->device == bound.device &&
           other->variant == bound.variant && other->metrics == bound.metrics;
  });
  return at == bounds.end() ? nullptr : *at;
}

std::string words_or_none(const std::vector<std::string>& words) {
  return words.empty() ? "none" : listed(words);
}

bool has_all(const std::vector<std::string>& words, const std::vector<std::string>& of) {
  return std::all_of(of.begin(), of.end(), [&](const std::string& word) {
    return std::find(words.begin(), words.end(), word) != words.end();
  });
}

// A limit twice as wide is no accident of the runs.
constexpr double much_wider = 2;

bool is_positive(const Entry& entry) {
  const auto* number = std::get_if<double>(&entry.value);
  return number && *number > 0;
}

bool is_worse(const Standard& standard, const Entry& before, const Entry& after) {
  if (standard.timed() && !is_positive(after)) return true;
  const Measured as_measured{.value = after.value, .processes = enough_processes};
  const Judgement judgement = judge(standard, as_measured, before);
  return standard.timed()
             ? judgement.suspect()
             : judgement.verdict == verdict::regression || judgement.verdict == verdict::changed;
}

// Whether other runs explain the difference, as when accepting adds them.
bool has_other_runs(const Entry& before, const Entry& after) {
  const auto& known = before.accepted.runs;
  return before.medians != after.medians &&
         std::any_of(after.accepted.runs.begin(), after.accepted.runs.end(),
                     [&](const std::string& run) {
                       return std::find(known.begin(), known.end(), run) == known.end();
                     });
}

class Comparing {
 public:
  Comparing(const Standard& before, const Standard& after, const std::set<std::string>& known)
      : before_(before), after_(after), known_(known) {}

  std::vector<StandardChange> run() {
    note("gate", name_of(before_.gate), name_of(after_.gate),
         !is_at_least_as_strict(after_.gate, before_.gate));
    note("tolerance", share(before_.tolerance), share(after_.tolerance),
         after_.tolerance > before_.tolerance);
    compare_comparisons();
    note("both ways", before_.two_sided ? "yes" : "no", after_.two_sided ? "yes" : "no",
         before_.two_sided);
    note("drift", before_.drift_blocks ? "block" : "warn", after_.drift_blocks ? "block" : "warn",
         before_.drift_blocks);
    note("versions", words_or_none(before_.same), words_or_none(after_.same),
         !has_all(before_.same, after_.same));
    note("patch tolerance", share(before_.patch_tolerance), share(after_.patch_tolerance),
         after_.patch_tolerance.value_or(0) > before_.patch_tolerance.value_or(0));
    note("on request", before_.on_request, after_.on_request, before_.on_request.empty());
    note("impossible above",
         told_beside(before_.impossible_above, after_.impossible_above, before_.unit),
         told_beside(after_.impossible_above, before_.impossible_above, before_.unit),
         before_.impossible_above &&
             (!after_.impossible_above || *after_.impossible_above > *before_.impossible_above));
    note("falls", words_or_none(before_.fall_is_change), words_or_none(after_.fall_is_change),
         !has_all(after_.fall_is_change, before_.fall_is_change));
    compare_bounds();
    compare_waivers();
    return std::move(changes_);
  }

 private:
  const Standard& before_;
  const Standard& after_;
  const std::set<std::string>& known_;
  std::vector<StandardChange> changes_ = {};

  static std::string share(const std::optional<double>& tolerance) {
    return tolerance ? text(100 * *tolerance, " %") : "none";
  }

  void add(const char* what, const std::string& before, const std::string& after, bool loosens,
           const Said& said) {
    changes_.push_back({.what = what,
                        .before = before,
                        .after = after,
                        .loosens = loosens,
                        .said = said,
                        .excused = is_new(said.why, known_)});
  }

  void note(const char* what, const std::string& before, const std::string& after, bool loosens) {
    if (before != after) add(what, before, after, loosens, said(what));
  }

  // In lock step a rule weighs more than in screening: only a rule can make a time that moved
  // merely warn.
  void compare_comparisons() {
    if (!before_.timed() || !after_.timed()) return;
    if (before_.blocks_once_compared() && !after_.blocks_once_compared() &&
        before_.gate == after_.gate)
      add("gate once compared", "block", name_of(after_.gate), true, said("gate"));
    if (after_.compared_tolerance() > before_.compared_tolerance())
      add("tolerance once compared", share(before_.compared_tolerance()),
          share(after_.compared_tolerance()), true, said("tolerance"));
  }

  Said said(const char* what) const {
    const auto at = after_.said.find(what);
    return at == after_.said.end() ? Said() : at->second;
  }

  void compare_bounds() {
    for (const Rule* bound : before_.bounds) {
      if (is_kept(*bound, after_.bounds)) continue;
      const Rule* now = successor(*bound, after_.bounds);
      if (!now) now = narrower(*bound);
      add("bound", text_of(*bound, now, before_.unit),
          now ? text_of(*now, bound, before_.unit) : "none", true,
          now ? Said{now->place, now->why} : Said());
    }
    for (const Rule* bound : after_.bounds)
      if (!is_kept(*bound, before_.bounds)) {
        const Rule* then = successor(*bound, before_.bounds);
        add("bound", then ? text_of(*then, bound, before_.unit) : "none",
            text_of(*bound, then, before_.unit), false, {bound->place, bound->why});
      }
  }

  // A bound that was split in several matches fewer cases; the one that holds here gives the
  // reason.
  const Rule* narrower(const Rule& bound) const {
    const auto at =
        std::find_if(after_.bounds.begin(), after_.bounds.end(), [&](const Rule* other) {
          return is_new(other->why, known_) && ((bound.bound->min && other->bound->min) ||
                                                (bound.bound->max && other->bound->max));
        });
    return at == after_.bounds.end() ? nullptr : *at;
  }

  void compare_waivers() {
    const Waiver *then = before_.waiver, *now = after_.waiver;
    if (!now || (then && then->until == now->until && then->why == now->why)) return;
    add("waiver", then ? "until " + then->until : "none", "until " + now->until, true,
        {now->place, now->why});
  }
};

}  // namespace

std::vector<StandardChange> compare(const Standard& before, const Standard& after,
                                    const std::set<std::string>& known) {
  return Comparing(before, after, known).run();
}

std::vector<StandardChange> compare(const Standard& standard, const Entry& before,
                                    const Entry& after, const std::set<std::string>& known) {
  std::vector<StandardChange> changes;
  const auto add = [&](const char* what, const std::string& then, const std::string& now) {
    changes.push_back({.what = what,
                       .before = then,
                       .after = now,
                       .loosens = true,
                       .said = {.why = after.accepted.why},
                       .excused = is_new(after.accepted.why, known)});
  };
  if (is_worse(standard, before, after)) {
    const auto [then, now] = told_apart(before.value, after.value, standard.unit);
    add("value", then, now);
  }
  if (!standard.timed() || !is_positive(before) || !is_positive(after)) return changes;
  const double sign = standard.better == Better::higher ? -1 : 1;
  // A better value leaves room for a wider limit.
  const double worse =
      sign * std::log(std::get<double>(after.value) / std::get<double>(before.value));
  const double room = has_other_runs(before, after) ? much_wider : 1;
  const auto widens = [&](const char* what, double limit, double now) {
    if (now > room * limit && worse + now > limit)
      add(what, percent(std::expm1(limit)), percent(std::expm1(now)));
  };
  widens("limit", screening_limit(standard.tolerance, before),
         screening_limit(standard.tolerance, after));
  if (after.anchor) widens("drift limit", drift_limit(before), drift_limit(after));
  if (before.anchor && (!after.anchor || sign * *after.anchor > sign * *before.anchor))
    add("anchor", told_beside(before.anchor, after.anchor, standard.unit),
        told_beside(after.anchor, before.anchor, standard.unit));
  return changes;
}

bool is_unasked(const std::string& why) {
  const std::string seen = as_seen(why);
  return std::ranges::any_of(unasked::all, [&](const char* text) { return seen == as_seen(text); });
}

bool is_new(const std::string& why, const std::set<std::string>& known) {
  const std::string seen = as_seen(why);
  return !seen.empty() && seen != as_seen(no_reason_yet) && !is_unasked(why) &&
         !known.contains(seen);
}

std::optional<std::string> excuse(const Standard& before, const Standard& after,
                                  const std::set<std::string>& known) {
  std::string reasons;
  for (const StandardChange& change : compare(before, after, known)) {
    if (!change.loosens) continue;
    if (!change.excused) return std::nullopt;
    add_to(reasons, change.said.why, "; ");
  }
  return reasons.empty() ? std::nullopt : std::optional(reasons);
}

}  // namespace holdfast::gate
