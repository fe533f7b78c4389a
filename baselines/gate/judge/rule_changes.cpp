// SPDX-License-Identifier: Apache-2.0
// The table of what a change does to what judges it.
#include <algorithm>
#include <map>
#include <tuple>

#include "gate/base/shown_text.hpp"
#include "gate/documents/case_name.hpp"
#include "gate/documents/measured_part.hpp"
#include "gate/documents/names.hpp"
#include "gate/judge/bounded.hpp"
#include "gate/judge/loosening.hpp"
#include "gate/judge/merge_base.hpp"

namespace holdfast::gate {
namespace {

constexpr const char* by_own_rules = "judged by this change's own rules";

// The listed cases, by id.
std::map<std::string, const ListedCase*> cases_of(const std::vector<List>& lists) {
  std::map<std::string, const ListedCase*> cases;
  for (const List& list : lists)
    for (const ListedCase& listed : list.cases) cases.try_emplace(listed.id, &listed);
  return cases;
}

class Table {
 public:
  Table(const MergeBase& base, const ChangeSet& change) : base_(base), change_(change) {}

  std::vector<RuleChange> run() {
    if (base_.policy) {
      for (RuleChange& change : policy_changes(base_, change_)) add(std::move(change));
      compare_suspects();
      look_for_idle_rules();
    }
    list_absences();
    compare_aliases();
    look_for_lost_values();
    for (RuleChange& lost : lost_bounds(base_, change_)) add(std::move(lost));
    for (RuleChange& edit : edited_values(base_, change_)) add(std::move(edit));
    list_new_baselines();
    list_new_cases();
    list_new_metrics();
    std::stable_sort(rows_.begin(), rows_.end(), [](const RuleChange& a, const RuleChange& b) {
      return std::pair(!a.blocking, !a.loosens) < std::pair(!b.blocking, !b.loosens);
    });
    return std::move(rows_);
  }

 private:
  const MergeBase& base_;
  const ChangeSet& change_;
  const std::set<std::string> known_ =
      base_.policy ? base_.policy->reasons() : std::set<std::string>();
  const std::map<std::string, const ListedCase*> cases_ = cases_of(change_.lists);
  std::vector<RuleChange> rows_ = {};

  std::string if_new(const std::string& why) const { return is_new(why, known_) ? why : ""; }

  void add(RuleChange row) {
    row.blocking = row.loosens && row.why.empty();
    rows_.push_back(std::move(row));
  }

  void compare_suspects() {
    const std::size_t then = base_.policy->most_suspects(), now = change_.policy.most_suspects();
    if (then == now) return;
    add({.rule = "most_suspects",
         .before = text(then),
         .after = text(now),
         .why = if_new(change_.policy.why()),
         .loosens = now > then});
  }

  // Where its cases are still listed, or accepted of other processors, a removal ends no rule.
  const Removal* removal_of(const Rule& rule) const {
    for (const Removal& removal : change_.policy.removals())
      if (removal.tier.empty() && removal.processor.empty() &&
          matches_glob(removal.match, rule.match) &&
          std::all_of(rule.metrics.begin(), rule.metrics.end(), [&](const std::string& metric) {
            return matches_glob(removal.metrics.front(), metric);
          }))
        return &removal;
    return nullptr;
  }

  const Removal* removal_of(LostValue lost) const {
    lost.tier =
        tier_on(kind_of_class(lost.device_class), lost.case_id, change_.lists, change_.complete);
    return change_.policy.removal(lost);
  }

  // The merge base's rules use the former names of renamed cases.
  void look_for_idle_rules() {
    std::vector<List> lists = change_.lists;
    std::map<std::string, std::string> then;
    for (const auto& [id, metrics] : known_metrics(base_))
      then[present_name(base_, change_.aliases, id)] = id;
    for (List& list : lists)
      for (std::size_t i = list.cases.size(); i-- > 0;)
        if (const auto old = then.find(list.cases[i].id); old != then.end()) {
          ListedCase before = list.cases[i];
          before.id = old->second;
          list.cases.push_back(std::move(before));
        }
    for (const Rule* rule : base_.policy->idle_rules(lists, change_.complete)) {
      const Removal* gone = removal_of(*rule);
      add({.rule = text(rule->match, ' ', rule->metric_name(), " (", rule->place, ")"),
           .before = "a rule",
           .after = "matches nothing any more",
           .why = reason_of(gone, base_.policy.get()),
           .loosens = true});
    }
  }

  void list_absences() {
    for (const Absence& now : change_.policy.absences()) {
      const auto& then = base_.policy ? base_.policy->absences() : std::vector<Absence>();
      if (std::any_of(then.begin(), then.end(), [&](const Absence& one) {
            return one.metric == now.metric && one.device == now.device && one.reason == now.reason;
          }))
        continue;
      add({.rule = text(now.metric, " on ", now.device, " (", now.place, ")"),
           .before = "must be measured",
           .after = "may be absent: " + now.reason,
           .why = if_new(now.why),
           .loosens = true});
    }
  }

  void compare_aliases() {
    const auto then = base_.aliases.names(), now = change_.aliases.names();
    const auto target = [](const auto& names, const std::string& from) {
      const auto at = names.find(from);
      return at == names.end() ? std::string("none") : at->second;
    };
    auto all = then;
    all.insert(now.begin(), now.end());
    for (const auto& [from, to] : all) {
      if (target(then, from) == target(now, from)) continue;
      // An alias to a smaller case makes it easy to keep the accepted values of a larger one.
      const std::string why = change_.aliases.why(from);
      add({.rule = "alias of " + from,
           .before = target(then, from),
           .after = target(now, from),
           .why = base_.aliases.reasons().contains(as_seen(why)) ? "" : if_new(why),
           .loosens = now.contains(from) &&
                      !has_same_axes(base_.aliases.current(from), change_.aliases.current(from))});
    }
  }

  // The accepted values of one class, or of a processor in it.
  struct Accepted {
    const Entries& then;
    const Entries* now;  // null where the change has none
    std::string device_class;
    std::string processor;
    bool is_measured;  // here, so that the run itself shows what is gone
  };

  // Accepted values that the change removes, or whose metric its suite no longer has, or whose case
  // no longer gates.
  void look_for_lost_values() {
    for (const auto& [place, baseline] : base_.baselines) {
      const auto now = change_.baselines.find(place);
      const Baseline* kept = now == change_.baselines.end() ? nullptr : &now->second;
      const bool is_measured = change_.measured.contains(place);
      look_for_lost_values({.then = baseline.entries,
                            .now = kept ? &kept->entries : nullptr,
                            .device_class = baseline.device_class,
                            .processor = "",
                            .is_measured = is_measured});
      for (const auto& [processor, entries] : baseline.processors) {
        const Entries* others = nullptr;
        if (kept)
          if (const auto at = kept->processors.find(processor); at != kept->processors.end())
            others = &at->second;
        look_for_lost_values({.then = entries,
                              .now = others,
                              .device_class = baseline.device_class,
                              .processor = processor,
                              .is_measured = is_measured});
      }
      look_for_lost_cases(baseline);
    }
  }

  // Cases without accepted values, as those of the full tier, show their loss by their limits.
  void look_for_lost_cases(const Baseline& baseline) {
    const MetricNames valued = known_metrics({.baselines = {{"", baseline}}});
    for (const auto& [old_id, limit] : baseline.limits) {
      const std::string id = present_name(base_, change_.aliases, old_id);
      const std::string how = unlisted(id, baseline.device_class);
      if (how.empty() || valued.contains(old_id)) continue;
      const Removal* gone = removal_of({.case_id = id,
                                        .device_class = baseline.device_class,
                                        .variant = case_variant,
                                        .metric = limited_metric});
      add({.rule = text(id, " on ", baseline.device_class),
           .before = text("the limit of its error, ", readable(limit.value, "1")),
           .after = how,
           .why = reason_of(gone, base_.policy.get()),
           .loosens = true});
    }
  }

  void look_for_lost_values(const Accepted& accepted) {
    struct Lost {
      std::size_t values = 0;
      std::string first;
    };
    std::map<std::tuple<std::string, std::string, std::string>, Lost> lost;  // case, how, why
    for (const auto& [key, entry] : accepted.then) {
      const auto [old_id, variant, metric] = entry_name(key);
      const std::string id = present_name(base_, change_.aliases, old_id);
      const EntryName name{.case_id = id, .variant = variant, .metric = metric};
      const std::string how =
          metric == kernels_metric ? lost_table(old_id, name, accepted) : lost_how(name, accepted);
      if (how.empty()) continue;
      const Removal* gone = removal_of({.case_id = id,
                                        .device_class = accepted.device_class,
                                        .variant = variant,
                                        .metric = metric,
                                        .processor = accepted.processor});
      Lost& one = lost[{id, how, reason_of(gone, base_.policy.get())}];
      if (one.values++ == 0) one.first = variant + '|' + metric;
    }
    for (const auto& [what, one] : lost) {
      const auto& [id, how, why] = what;
      add({.rule = text(id, " on ", accepted.device_class,
                        accepted.processor.empty() ? "" : " of " + accepted.processor),
           .before = text(plural(one.values, "accepted value"), " such as ", one.first),
           .after = how,
           .why = why,
           .loosens = true});
    }
  }

  // Whether its suite knows the metric; lists do not say of all metrics which cases have them.
  bool is_known(const EntryName& name) const {
    const List* list = find_list(change_.lists, suite_of(name.case_id));
    return !list || list->metrics.contains(name.metric);
  }

  // How the lists lack a case; empty where they have it there, or do not tell of its suite.
  std::string unlisted(const std::string& id, const std::string& device_class) const {
    const auto at = cases_.find(id);
    if (at == cases_.end())
      return change_.complete || find_list(change_.lists, suite_of(id)) ? "no such case" : "";
    const std::string kind = kind_of_class(device_class);
    return at->second->devices.contains(kind) ? "" : text("not run on ", kind, " any more");
  }

  std::string lost_how(const EntryName& name, const Accepted& accepted) const {
    if (const std::string how = unlisted(name.case_id, accepted.device_class); !how.empty())
      return how;
    if (const auto at = cases_.find(name.case_id); at != cases_.end()) {
      if (!tier_includes("gate", at->second->tier))
        return text("of the tier ", at->second->tier, ", which does not gate");
      if (!accepted.is_measured && !is_known(name)) return "no such metric";
    }
    const std::string key = entry_key(name.case_id, name.variant, name.metric);
    return accepted.now && accepted.now->contains(key) ? "" : "taken out of the baseline";
  }

  // No run misses a table of kernels, and without it a later loss by other arguments of the same
  // machine code would be taken for the machine's. That of other code is evidence no more.
  static std::string lost_table(const std::string& old_id, const EntryName& name,
                                const Accepted& accepted) {
    const std::string key = entry_key(name.case_id, name.variant, kernels_metric);
    if (!accepted.now || accepted.now->contains(key)) return "";
    const EntryName then{.case_id = old_id, .variant = name.variant, .metric = name.metric};
    return has_same_code(accepted.then, then, *accepted.now, name) ? "taken out of the baseline"
                                                                   : "";
  }

  // Baselines of a class, or of a processor in it, that had none.
  void list_new_baselines() {
    const auto tell = [&](const std::string& whose, std::size_t values) {
      add({.rule = whose,
           .before = "none",
           .after = text(plural(values, "accepted value"), ", ", by_own_rules)});
    };
    for (const auto& [place, now] : change_.baselines) {
      const auto then = base_.baselines.find(place);
      if (then == base_.baselines.end()) {
        tell(place, count_entries(now));
        continue;
      }
      for (const auto& [processor, entries] : now.processors)
        if (!then->second.processors.contains(processor))
          tell(text(processor, " in ", place), entries.size());
    }
  }

  void list_new_cases() {
    std::set<std::string> known;
    for (const auto& [id, metrics] : known_metrics(base_))
      known.insert(present_name(base_, change_.aliases, id));
    for (const List& list : change_.lists)
      for (const ListedCase& listed : list.cases)
        if (tier_includes("gate", listed.tier) && !known.contains(listed.id))
          add({.rule = listed.id, .before = "none", .after = by_own_rules});
  }

  // What the merge base accepted on one kind of device.
  struct Known {
    std::string device_class;                                   // one of them
    std::map<std::string, std::set<std::string>> metrics = {};  // by the case's present id
  };

  std::map<std::string, Known> known_by_kind() const {
    std::map<std::string, Known> kinds;
    for (const auto& [place, baseline] : base_.baselines) {
      Known& known = kinds[kind_of_class(baseline.device_class)];
      known.device_class = baseline.device_class;
      for (const auto& [processor, entries] : by_processor(baseline))
        for (const auto& [key, entry] : *entries) {
          const EntryName name = entry_name(key);
          known.metrics[present_name(base_, change_.aliases, name.case_id)].insert(name.metric);
        }
    }
    return kinds;
  }

  static bool is_accepted_and_gates(const Policy& policy, const std::string& id,
                                    const std::string& on, const std::string& metric) {
    const auto meaning = policy.metrics().find(metric);
    return meaning != policy.metrics().end() &&
           std::any_of(metric_variants.begin(), metric_variants.end(), [&](const char* variant) {
             const Standard standard =
                 policy.standard(id, on, variant, metric, meaning->second.kind);
             return standard.stored() && standard.gate != Gate::off;
           });
  }

  // New metrics of cases that the merge base knows on that kind of device, one row per metric.
  void list_new_metrics() {
    std::map<std::string, std::vector<std::string>> found;  // cases by metric
    const std::map<std::string, Known> kinds = known_by_kind();
    for (const List& list : change_.lists) {
      const Policy policy = change_.policy.with(list.metrics);
      for (const ListedCase& listed : list.cases)
        for (const auto& [kind, metrics] : listed.devices) {
          const auto there = kinds.find(kind);
          if (there == kinds.end() || !tier_includes("gate", listed.tier)) continue;
          const auto known = there->second.metrics.find(listed.id);
          if (known == there->second.metrics.end()) continue;
          for (const std::string& metric : metrics)
            if (!known->second.contains(metric) &&
                is_accepted_and_gates(policy, listed.id, there->second.device_class, metric))
              found[metric].push_back(text(listed.id, " on ", kind));
        }
    }
    for (const auto& [metric, cases] : found)
      add({.rule = text(metric, ", for ",
                        cases.size() == 1 ? "" : text(plural(cases.size(), "case"), " such as "),
                        cases.front()),
           .before = "none",
           .after = by_own_rules});
  }
};

}  // namespace

std::vector<RuleChange> changes_since(const MergeBase& base, const ChangeSet& change) {
  return Table(base, change).run();
}

}  // namespace holdfast::gate
