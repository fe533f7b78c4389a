// SPDX-License-Identifier: Apache-2.0
// What a change edits in the accepted values, whether or not it is measured here.
#include <functional>
#include <tuple>
#include <utility>

#include "gate/documents/case_name.hpp"
#include "gate/documents/measured_part.hpp"
#include "gate/judge/loosening.hpp"
#include "gate/judge/merge_base.hpp"

namespace holdfast::gate {
namespace {

class Edits {
 public:
  Edits(const MergeBase& base, const ChangeSet& change) : base_(base), change_(change) {}

  std::vector<RuleChange> run() {
    for (const List& list : change_.lists) policies_.emplace(list.suite, policy_of(list));
    for (const auto& [place, before] : base_.baselines)
      if (const auto after = change_.baselines.find(place); after != change_.baselines.end())
        compare_baselines(place, before, after->second);
    return std::move(rows_);
  }

 private:
  // What becomes laxer of one metric for one reason is one row.
  struct Edit {
    StandardChange change;
    std::string first;  // a value that it is about
    std::size_t values = 0;
  };
  using EditsByMetric = std::map<std::tuple<std::string, std::string, std::string>, Edit>;

  const MergeBase& base_;
  const ChangeSet& change_;
  std::map<std::string, Policy, std::less<>> policies_ = {};  // by suite
  std::vector<RuleChange> rows_ = {};

  Policy policy_of(const List& list) const { return held_to(base_, change_).with(list.metrics); }

  void compare_baselines(const std::string& place, const Baseline& before, const Baseline& after) {
    const std::set<std::string> known = reasons(before);
    EditsByMetric found;
    compare_entries(before.entries, after.entries, before.device_class, known, found);
    for (const auto& [processor, entries] : before.processors)
      if (const auto now = after.processors.find(processor); now != after.processors.end())
        compare_entries(entries, now->second, before.device_class, known, found);
    for (const auto& [key, edit] : found) {
      const auto& [metric, what, why] = key;
      rows_.push_back(
          {.rule = text("accepted ", what, " of ", metric, ", for ",
                        edit.values == 1 ? "" : text(plural(edit.values, "value"), " such as "),
                        edit.first),
           .before = edit.change.before,
           .after = edit.change.after,
           .why = why,
           .loosens = true});
    }
    compare_tools(place, before.fingerprint, after.fingerprint);
  }

  void compare_entries(const Entries& before, const Entries& after, const std::string& on,
                       const std::set<std::string>& known, EditsByMetric& found) const {
    for (const auto& [key, then] : before) {
      const std::size_t bar = key.find('|');
      const std::string id = present_name(base_, change_.aliases, key.substr(0, bar));
      const auto now = after.find(id + key.substr(bar));
      const auto policy = policies_.find(suite_of(id));
      if (now == after.end() || policy == policies_.end()) continue;
      const std::string metric = metric_of(key);
      const std::string variant = key.substr(bar + 1, key.rfind('|') - bar - 1);
      const auto meaning = policy->second.metrics().find(metric);
      if (meaning == policy->second.metrics().end()) continue;
      const Standard standard =
          policy->second.standard(id, on, variant, metric, meaning->second.kind);
      for (StandardChange& change : compare(standard, then, now->second, known)) {
        Edit& edit = found[{metric, change.what, change.excused ? change.said.why : ""}];
        if (edit.values++ == 0) {
          edit.first = text(id, ' ', variant, " on ", on);
          edit.change = std::move(change);
        }
      }
    }
  }

  // Tools that this run did not have excuse what its code did: those of another machine it cannot
  // tell.
  void compare_tools(const std::string& place, const Fingerprint& before,
                     const Fingerprint& after) {
    const auto measured = change_.measured.find(place);
    if (before == after || measured == change_.measured.end() || measured->second == after) return;
    rows_.push_back({.rule = "tools of " + place,
                     .before = "as accepted",
                     .after = "not those that measured here",
                     .loosens = true});
  }
};

}  // namespace

std::vector<RuleChange> edited_values(const MergeBase& base, const ChangeSet& change) {
  return Edits(base, change).run();
}

}  // namespace holdfast::gate
