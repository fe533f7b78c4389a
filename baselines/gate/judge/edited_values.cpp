// SPDX-License-Identifier: Apache-2.0
// What a change edits in the accepted values, whether or not it is measured here.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <tuple>
#include <utility>

#include "gate/base/numbers.hpp"
#include "gate/documents/case_name.hpp"
#include "gate/documents/kernel_table.hpp"
#include "gate/documents/measured_part.hpp"
#include "gate/judge/loosening.hpp"
#include "gate/judge/merge_base.hpp"

namespace holdfast::gate {
namespace {

class Edits {
 public:
  Edits(const MergeBase& base, const ChangeSet& change) : base_(base), change_(change) {}

  std::vector<RuleChange> run() {
    const Policy held = held_to(base_, change_);
    for (const List& list : change_.lists) policies_.emplace(list.suite, held.with(list.metrics));
    for (const auto& [place, before] : base_.baselines)
      if (const auto after = change_.baselines.find(place); after != change_.baselines.end())
        compare_baselines(place, before, after->second);
    compare_limits();
    return std::move(rows_);
  }

 private:
  // Values of one metric that become laxer for one reason are one row.
  struct Edit {
    StandardChange change;
    std::string first;  // a value that it is about
    std::size_t values = 0;
  };
  using EditsByMetric = std::map<std::tuple<std::string, std::string, std::string>, Edit>;

  struct File {
    const std::string& device_class;
    const KernelTables& measured;       // here
    bool is_other_patch_level = false;  // than before, as to the compiler
    const std::set<std::string> known;  // the reasons that it gave before
    EditsByMetric found = {};
  };

  const MergeBase& base_;
  const ChangeSet& change_;
  std::map<std::string, Policy, std::less<>> policies_ = {};  // by suite
  std::vector<RuleChange> rows_ = {};

  void compare_baselines(const std::string& place, const Baseline& before, const Baseline& after) {
    static const KernelTables none;
    const auto measured = change_.tables.find(place);
    File file{.device_class = before.device_class,
              .measured = measured == change_.tables.end() ? none : measured->second,
              .is_other_patch_level =
                  differ_in_patch_level(before.fingerprint.compiler, after.fingerprint.compiler),
              .known = reasons(before)};
    compare_entries(before.entries, after.entries, file);
    for (const auto& [processor, entries] : before.processors)
      if (const auto now = after.processors.find(processor); now != after.processors.end())
        compare_entries(entries, now->second, file);
    for (const auto& [key, edit] : file.found) {
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
    if (!before.metrics.empty() && after.metrics.empty() && count_entries(after) > 0)
      rows_.push_back({.rule = "what the metrics are, in " + place,
                       .before = "told",
                       .after = "a file of an older format, which does not tell",
                       .loosens = true});
    if (!change_.measured.contains(place)) compare_meanings(place, before.metrics, after.metrics);
  }

  void compare_entries(const Entries& before, const Entries& after, File& file) const {
    for (const auto& [key, then] : before) {
      const auto [old_id, variant, metric] = entry_name(key);
      const std::string id = present_name(base_, change_.aliases, old_id);
      const auto now = after.find(entry_key(id, variant, metric));
      const auto policy = policies_.find(suite_of(id));
      if (now == after.end() || policy == policies_.end()) continue;
      const EntryName old_name{old_id, variant, metric}, name{id, variant, metric};
      if (metric == kernels_metric && has_same_code(before, old_name, after, name))
        compare_tables(name, then, now->second, file);
      const auto meaning = policy->second.metrics().find(metric);
      if (meaning == policy->second.metrics().end()) continue;
      Standard standard =
          policy->second.standard(id, file.device_class, variant, metric, meaning->second.kind);
      // The tolerance of a count is for measurements: small rises would add up, and no anchor tells
      // how far.
      if (!standard.timed())
        standard.tolerance = file.is_other_patch_level ? standard.patch_tolerance.value_or(0) : 0;
      for (StandardChange& change : compare(standard, then, now->second, file.known))
        add(name, std::move(change), file);
    }
  }

  static void add(const EntryName& name, StandardChange change, File& file) {
    Edit& edit = file.found[{name.metric, change.what, change.excused ? change.said.why : ""}];
    if (edit.values++ > 0) return;
    edit.first = text(name.case_id, ' ', name.variant, " on ", file.device_class);
    edit.change = std::move(change);
  }

  // A table of the same machine code that gives other arguments, or none, unless this run shows
  // them: a later loss by other arguments would then be taken for the machine's.
  static void compare_tables(const EntryName& name, const Entry& before, const Entry& after,
                             File& file) {
    const auto* then = std::get_if<std::string>(&before.value);
    const auto* now = std::get_if<std::string>(&after.value);
    if (!then || (now && keeps_arguments(*then, *now))) return;
    const auto shown = file.measured.find(entry_key(name.case_id, name.variant, name.metric));
    if (now && shown != file.measured.end() && keeps_arguments(shown->second, *now) &&
        keeps_arguments(*now, shown->second))
      return;
    const auto [old_row, new_row] = told_apart(before.value, after.value, "");
    const std::string& why = after.accepted.why;
    add(name,
        {.what = "table",
         .before = old_row,
         .after = new_row,
         .loosens = true,
         .said = {.why = why},
         .excused = is_new(why, file.known)},
        file);
  }

  // The limit of each case that was accepted last, in any class, by present name: a class that was
  // not measured since keeps an old one. At equal times `is_preferred(limit, to)` decides.
  using Limits = std::map<std::string, const Entry*>;
  static double value_of(const Entry& limit) { return std::get<double>(limit.value); }

  template <class Name, class Preferred>
  static Limits latest(const Baselines& baselines, const Name& present,
                       const Preferred& is_preferred) {
    Limits limits;
    for (const auto& [place, baseline] : baselines)
      for (const auto& [id, entry] : baseline.limits) {
        const Entry*& limit = limits[present(id)];
        if (!limit || limit->accepted.utc < entry.accepted.utc ||
            (limit->accepted.utc == entry.accepted.utc &&
             is_preferred(value_of(entry), value_of(*limit))))
          limit = &entry;
      }
    return limits;
  }

  const ListedCase* listed(const std::string& id) const {
    for (const List& list : change_.lists)
      for (const ListedCase& one : list.cases)
        if (one.id == id) return &one;
    return nullptr;
  }

  // The limit that the change applies to a result; infinite if there is none any more.
  static double laxer(const Entry* accepted, const ListedCase* one) {
    if (!accepted || (one && !one->limit)) return std::numeric_limits<double>::infinity();
    return one ? std::max(value_of(*accepted), *one->limit) : value_of(*accepted);
  }

  // The change's own lists say how far results may be from their oracles. A case that is no longer
  // listed is reported with its values.
  void compare_limits() {
    struct Laxer {
      std::string first, before, after;
      std::size_t cases = 0;
    };
    std::map<std::pair<std::string, std::string>, Laxer> found;  // by suite and reason
    std::set<std::string> known;
    for (const auto& [place, baseline] : base_.baselines) known.merge(reasons(baseline));
    const Limits now = latest(
        change_.baselines, [](const std::string& id) { return id; }, std::greater<>());
    const Limits then = latest(
        base_.baselines,
        [&](const std::string& id) { return present_name(base_, change_.aliases, id); },
        std::less<>());
    for (const auto& [id, before] : then) {
      const ListedCase* one = listed(id);
      if (!one && (change_.complete || policies_.contains(suite_of(id)))) continue;
      const auto kept = now.find(id);
      const Entry* accepted = kept == now.end() ? nullptr : kept->second;
      const double limit = laxer(accepted, one);
      if (limit <= value_of(*before)) continue;
      const bool excused =
          accepted && value_of(*accepted) >= limit && is_new(accepted->accepted.why, known);
      Laxer& told = found[{std::string(suite_of(id)), excused ? accepted->accepted.why : ""}];
      if (told.cases++ > 0) continue;
      told.first = id;
      std::tie(told.before, told.after) = told_apart(before->value, limit, "1");
      if (!std::isfinite(limit)) told.after = accepted ? "none" : "kept in no baseline";
    }
    for (const auto& [key, told] : found)
      rows_.push_back({.rule = text("limit of the error, for ",
                                    told.cases == 1 ? "" : plural(told.cases, "case") + " such as ",
                                    told.first),
                       .before = told.before,
                       .after = told.after,
                       .why = key.second,
                       .loosens = true});
  }

  // What a metric was when it was accepted; a part that is measured is held to it itself.
  void compare_meanings(const std::string& place, const Meanings& before, const Meanings& after) {
    const std::set<std::string> reasoned = reasoned_metrics(base_, change_.policy, after);
    for (const auto& [name, then] : before) {
      const auto now = after.find(name);
      if (now == after.end() || now->second == then) continue;
      rows_.push_back({.rule = text("what ", name, " is, in ", place),
                       .before = text_of(then),
                       .after = text_of(now->second),
                       .why = reasoned.contains(name) ? change_.policy.why_of_metric(name) : "",
                       .loosens = true});
    }
  }

  // "nvrtc 13.0.88, no driver": the tools that `other` does not have.
  static std::string others(const Fingerprint& tools, const Fingerprint& other) {
    std::string told;
    for (const auto& [name, tool] : known_tools) {
      if (tools.*tool == other.*tool) continue;
      const auto& version = tools.*tool;
      add_to(told, version ? text(name, ' ', *version) : text("no ", name));
    }
    return told;
  }

  // Edited tools that this run did not have would excuse its code. Only a reader can tell whether
  // another machine has them.
  void compare_tools(const std::string& place, const Fingerprint& before,
                     const Fingerprint& after) {
    const auto measured = change_.measured.find(place);
    const bool is_measured = measured != change_.measured.end();
    if (before == after || (is_measured && measured->second == after)) return;
    rows_.push_back(
        {.rule = "tools of " + place,
         .before = others(before, after),
         .after = text(others(after, before), is_measured ? ", not those that measured here"
                                                          : ", with which nobody measured here"),
         .loosens = is_measured});
  }
};

}  // namespace

std::vector<RuleChange> edited_values(const MergeBase& base, const ChangeSet& change) {
  return Edits(base, change).run();
}

}  // namespace holdfast::gate
