// SPDX-License-Identifier: Apache-2.0
// What the policies before a change and with it say of each metric of each listed case.
#include <algorithm>
#include <array>
#include <compare>
#include <map>
#include <tuple>

#include "gate/documents/measured_part.hpp"
#include "gate/judge/loosening.hpp"
#include "gate/judge/merge_base.hpp"

namespace holdfast::gate {
namespace {

// A class that a rule's glob matches.
std::string class_of(std::string glob) {
  for (std::size_t star = glob.find('*'); star != std::string::npos; star = glob.find('*'))
    glob.replace(star, 1, "x");
  return glob;
}

class PolicyChanges {
 public:
  PolicyChanges(const MergeBase& base, const ChangeSet& change) : base_(base), change_(change) {}

  std::vector<RuleChange> run() {
    const Policy held = held_to(base_, change_);
    const std::set<std::string> classes = device_classes();
    for (const List& list : change_.lists) {
      const Policy policy = held.with(list.metrics);
      for (const ListedCase& listed : list.cases)
        for (const auto& [kind, metrics] : listed.devices)
          for (const std::string& on : classes)
            if (kind_of_class(on) == kind) compare_case(policy, listed.id, on, metrics);
      compared_.clear();  // both hold for this list's metrics only
      of_metric_.clear();
    }
    std::vector<RuleChange> rows;
    for (const auto& [key, one] : found_) {
      const StandardChange& change = one.change;
      rows.push_back(
          {.rule = text(
               change.what, " of ", one.metric, ", ",
               one.values == 1 ? "for " : text("for ", plural(one.values, "value"), " such as "),
               one.first, change.said.place.empty() ? "" : text(" (", change.said.place, ")")),
           .before = change.before,
           .after = change.after,
           .why = change.excused ? change.said.why : "",
           .loosens = change.loosens});
    }
    return rows;
  }

 private:
  // What differs for many values in the same way is one row.
  struct Difference {
    StandardChange change;
    std::string metric;
    std::string first;  // a value that it is about
    std::size_t values = 0;
  };
  // What both policies say of a case, and whether it is on a host: cases that share these are
  // compared once, and so are cases with the same rules for one metric.
  struct Spoken {
    std::vector<const Scope*> before = {}, after = {};
    bool host = false;
    auto operator<=>(const Spoken&) const = default;

    Spoken of(const std::string& metric) const {
      Spoken one = *this;
      for (auto* scopes : {&one.before, &one.after})
        std::erase_if(*scopes, [&](const Scope* scope) { return scope->metric_name() != metric; });
      return one;
    }
  };
  using Changes = std::vector<StandardChange>;
  using ByVariant = std::array<Changes, metric_variants.size()>;
  struct Compared {
    std::map<std::string, const ByVariant*> metrics = {};
    std::array<std::vector<std::pair<std::string, Changes>>, metric_variants.size()> sums = {};
  };

  const MergeBase& base_;
  const ChangeSet& change_;
  const std::set<std::string> known_ = base_.policy->reasons();
  std::map<Spoken, Compared> compared_ = {};
  std::map<std::pair<std::string, Spoken>, ByVariant> of_metric_ = {};
  std::map<std::tuple<std::string, std::string, std::string, std::string, std::string>, Difference>
      found_ = {};

  // The classes of the baselines, those that a rule or a waiver of either policy names, and one of
  // each kind that none does. No class is called after half of cuda-dry: what such a glob holds
  // there shows on the dry classes. A rule on a name that no class can have held nowhere.
  std::set<std::string> device_classes() const {
    std::set<std::string> classes;
    for (const auto& [place, baseline] : base_.baselines) classes.insert(baseline.device_class);
    const auto add_named = [&](const auto& scopes) {
      for (const Scope& scope : scopes)
        if (scope.device.find('*') == scope.device.npos ? is_device_class(scope.device)
                                                        : !half_names_cuda_dry(scope.device))
          classes.insert(class_of(scope.device));
    };
    for (const Policy* policy : {base_.policy.get(), &change_.policy}) {
      add_named(policy->rules());
      add_named(policy->waivers());
    }
    for (const char* any : {"host-x", "cuda-dry-x", "gpu"}) classes.insert(any);
    return classes;
  }

  void compare_case(const Policy& policy, const std::string& id, const std::string& on,
                    const std::vector<std::string>& metrics) {
    const Policy& before = *policy.precedent();
    const std::string then = policy.old_name(id);
    const auto [at, is_new] =
        compared_.try_emplace({before.scopes(then, on), policy.scopes(id, on), is_host_class(on)});
    const Spoken& spoken = at->first;
    Compared& compared = at->second;
    if (is_new) compared.sums = sums_of(policy, id, on);
    const auto value = [&](std::size_t variant) {
      return text(id, ' ', metric_variants[variant], " on ", on);
    };
    for (const std::string& metric : metrics) {
      const auto meaning = policy.metrics().find(metric);
      if (meaning == policy.metrics().end()) continue;
      const std::string& kind = meaning->second.kind;
      if (!before.has_kind(kind)) continue;
      const ByVariant*& changes = compared.metrics[metric];
      if (!changes) {
        const auto [one, is_first] = of_metric_.try_emplace({metric, spoken.of(metric)});
        for (std::size_t v = 0; is_first && v < metric_variants.size(); ++v)
          one->second[v] =
              compare(before.own_standard(then, on, metric_variants[v], metric, kind),
                      policy.own_standard(id, on, metric_variants[v], metric, kind), known_);
        changes = &one->second;
      }
      for (std::size_t v = 0; v < metric_variants.size(); ++v)
        if (!(*changes)[v].empty() && policy.is_precedent(id, on, metric_variants[v], metric, kind))
          note((*changes)[v], metric, value(v));
    }
    for (std::size_t v = 0; v < metric_variants.size(); ++v)
      for (const auto& [name, changes] : compared.sums[v]) note(changes, name, value(v));
  }

  // The changed bounds on sums, by variant.
  decltype(Compared::sums) sums_of(const Policy& policy, const std::string& id,
                                   const std::string& on) const {
    decltype(Compared::sums) sums;
    for (std::size_t v = 0; v < metric_variants.size(); ++v) {
      const std::vector<Sum> own = policy.own_sums(id, on, metric_variants[v]);
      for (const Sum& sum : policy.sums(id, on, metric_variants[v])) {
        const auto same = std::find_if(own.begin(), own.end(),
                                       [&](const Sum& one) { return one.metrics == sum.metrics; });
        Changes changes =
            compare(sum.standard, same == own.end() ? Sum().standard : same->standard, known_);
        if (!changes.empty()) sums[v].emplace_back(sum.name, std::move(changes));
      }
    }
    return sums;
  }

  void note(const Changes& changes, const std::string& metric, const std::string& value) {
    for (const StandardChange& change : changes) {
      Difference& one = found_[{change.what, metric, change.before, change.after,
                                change.said.place + change.said.why}];
      if (one.values++ == 0)
        one = {.change = change, .metric = metric, .first = value, .values = 1};
    }
  }
};

}  // namespace

std::vector<RuleChange> policy_changes(const MergeBase& base, const ChangeSet& change) {
  return PolicyChanges(base, change).run();
}

}  // namespace holdfast::gate
