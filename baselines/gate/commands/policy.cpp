// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <map>
#include <set>

#include "gate/commands/commands.hpp"
#include "gate/commands/common_options.hpp"
#include "gate/documents/baseline_files.hpp"
#include "gate/documents/build_folder.hpp"
#include "gate/documents/case_name.hpp"
#include "gate/documents/measured_part.hpp"
#include "gate/documents/results_root.hpp"

namespace holdfast::gate {
namespace {

namespace fs = std::filesystem;

// The case and class that are asked about, with their sources: the suite's list in this build, if
// it has one, and what was accepted of the suite on any device class.
struct Subject {
  std::string case_id;
  std::string device_class;
  std::optional<List> list = {};
  std::vector<Baseline> accepted = {};

  std::string suite() const { return std::string(suite_of(case_id)); }
  std::string kind() const { return kind_of_class(device_class); }
  const ListedCase* listed() const { return list ? list->find(case_id) : nullptr; }
};

// A unique part of an id stands for that case of this build; a suite that only baselines know needs
// whole ids.
std::string whole_id(const std::string& word, const fs::path& lists, const Store& store) {
  const std::string suite(suite_of(word));
  const std::vector<std::string> places = store.places("devices/", ".json");
  std::error_code ignored;  // a word may be longer than any name of a file
  if (fs::exists(list_path(lists, suite), ignored) ||
      std::any_of(places.begin(), places.end(),
                  [&](const fs::path& place) { return place.stem() == suite; }))
    return word;
  std::vector<std::string> ids;
  for (const List& list : lists_of_build(lists))
    for (const ListedCase& listed : list.cases) ids.push_back(listed.id);
  return ids.empty() ? word : resolve_case(word, ids, "this build");
}

Subject read_subject(const std::string& word, const std::string& device_class,
                     const fs::path& lists, const fs::path& baselines) {
  const Store store(baselines, Store::Use::reading);
  Subject subject{.case_id = whole_id(word, lists, store), .device_class = device_class};
  if (subject.suite().empty() || subject.suite() == subject.case_id)
    throw Error(Fault::bad_input, text("'", word, "' is no case id; holdfast list shows them"));
  const fs::path list = list_path(lists, subject.suite());
  if (fs::exists(list)) subject.list = read_list(list);
  for (const std::string& place : store.places("devices/", ".json"))
    if (fs::path(place).stem() == subject.suite())
      subject.accepted.push_back(*read_baseline_if_any(store, place));
  return subject;
}

// A case must be listed, unless this build does not have its suite.
void refuse_unknown_case(const Subject& subject) {
  if (!subject.list || subject.listed()) return;
  std::vector<std::string> ids;
  for (const ListedCase& listed : subject.list->cases) ids.push_back(listed.id);
  const auto meant = nearest(subject.case_id, ids);
  throw Error(Fault::bad_input, text(subject.suite(), " has no case ", subject.case_id, "; ",
                                     meant ? text("did you mean ", *meant, "?")
                                           : text("see holdfast list ", subject.suite())));
}

// A class need not have been measured yet, but its name must have the form of one.
void refuse_unknown_class(const Subject& subject) {
  std::vector<std::string> known;
  for (const Baseline& baseline : subject.accepted) known.push_back(baseline.device_class);
  const std::string& asked = subject.device_class;
  const bool is_known = std::find(known.begin(), known.end(), asked) != known.end();
  if (!is_known && !is_device_class(asked)) {
    const auto meant = nearest(asked, known);
    throw Error(Fault::bad_input,
                text("--device-class=", asked, ": ",
                     meant ? text("there is no such class; did you mean ", *meant, "?")
                           : "a class is called as host-x86_64-v4-2t, cuda-dry-sm_90 or "
                             "nvidia-h200"));
  }
  const ListedCase* listed = subject.listed();
  if (listed && !listed->devices.contains(subject.kind()))
    throw Error(Fault::bad_input,
                text(subject.case_id, " is not measured on ", subject.kind(),
                     ", as --device-class=", asked, " asks; see holdfast list ", subject.suite()));
}

// The meanings in this build's list or, without one, as they were accepted.
Meanings meanings_of(const Subject& subject, const fs::path& baselines) {
  if (subject.list) return subject.list->metrics;
  for (const Baseline& baseline : subject.accepted)
    if (baseline.device_class == subject.device_class) return baseline.metrics;
  const std::string place = baseline_file(subject.device_class, subject.suite());
  throw Error(Fault::bad_input,
              text("nothing tells what a suite ", subject.suite(),
                   " measures: this build has no list of it, and ", (baselines / place).string(),
                   " does not exist; a whole case id begins with its suite, and holdfast list "
                   "shows them"));
}

// The metrics of the case on that kind of device: those that its list promises, and others that
// were accepted.
std::set<std::string> metrics_there(const Subject& subject) {
  std::set<std::string> metrics;
  if (const ListedCase* listed = subject.listed()) {
    const auto& promised = listed->devices.at(subject.kind());
    metrics.insert(promised.begin(), promised.end());
  }
  for (const Baseline& baseline : subject.accepted)
    if (kind_of_class(baseline.device_class) == subject.kind())
      for (const auto& [processor, entries] : by_processor(baseline))
        for (const auto& [key, entry] : *entries)
          if (entry_name(key).case_id == subject.case_id) metrics.insert(metric_of(key));
  return metrics;
}

// Which variants have a metric: lists do not say, but accepted values do, and a ratio belongs to
// the case.
using VariantsOf = std::map<std::string, std::set<std::string>>;

VariantsOf known_variants(const Subject& subject, const Policy& policy) {
  VariantsOf variants;
  for (const auto& [metric, meaning] : policy.metrics())
    if (meaning.kind == "ratio") variants[metric] = {case_variant};
  for (const Baseline& baseline : subject.accepted)
    for (const auto& [processor, entries] : by_processor(baseline))
      for (const auto& [key, entry] : *entries)
        variants[metric_of(key)].insert(entry_name(key).variant);
  return variants;
}

bool has_variant(const Subject& subject, const std::string& variant) {
  const ListedCase* listed = subject.listed();
  return variant != "reference" || !listed || listed->reference;
}

// What the policy says, by variants that have the metric. If these are unknown, variants with the
// same rules are grouped, without a name if that is all of them.
using SourcesByVariant = std::vector<std::pair<std::string, std::vector<std::string>>>;

SourcesByVariant told_of(const Subject& subject, const Policy& policy, const std::string& metric,
                         const VariantsOf& known) {
  const auto having = known.find(metric);
  const bool certain = having != known.end();
  SourcesByVariant told;
  for (const std::string variant : {case_variant, "optimized", "reference"}) {
    if (!has_variant(subject, variant) || (certain && !having->second.contains(variant))) continue;
    const Standard standard = policy.standard(subject.case_id, subject.device_class, variant,
                                              metric, policy.metrics().at(metric).kind);
    const auto same = std::find_if(told.begin(), told.end(), [&](const auto& one) {
      return !certain && one.second == standard.sources;
    });
    if (same == told.end())
      told.emplace_back(variant, standard.sources);
    else
      same->first += " or " + variant;
  }
  if (!certain && told.size() == 1) told.front().first.clear();
  return told;
}

void print_metric(const std::string& metric, const SourcesByVariant& told) {
  for (const auto& [variant, sources] : told) {
    std::string name = text("  ", variant, variant.empty() ? "" : " ", metric);
    name.resize(std::max<std::size_t>(name.size() + 1, 32), ' ');
    std::cout << name << sources.front() << "\n";
    for (std::size_t i = 1; i < sources.size(); ++i)
      std::cout << std::string(34, ' ') << sources[i] << "\n";
  }
}

void print_sums(const Subject& subject, const Policy& policy, const std::set<std::string>& metrics,
                const VariantsOf& known) {
  for (const char* variant : metric_variants) {
    if (!has_variant(subject, variant)) continue;
    const auto has = [&](const std::string& metric) {
      const auto having = known.find(metric);
      return metrics.contains(metric) &&
             (having == known.end() || having->second.contains(variant));
    };
    for (const Sum& sum : policy.sums(subject.case_id, subject.device_class, variant))
      if (std::ranges::all_of(sum.metrics, has))
        print_metric(sum.name, SourcesByVariant{{variant, sum.standard.sources}});
  }
}

int policy_verb(const Options& options) {
  const fs::path baselines = options.value_or("baselines", "baselines");
  const fs::path lists = options.value_or("lists", binary_folder().string());
  const Subject subject =
      read_subject(options.operands().front(), options.value_or("device-class", "cuda-dry-sm_90"),
                   lists, baselines);
  refuse_unknown_case(subject);
  refuse_unknown_class(subject);
  const Policy policy = read_policy(baselines, options).with(meanings_of(subject, baselines));
  std::cout << subject.case_id << " on " << subject.device_class << "\n";
  const VariantsOf known = known_variants(subject, policy);
  const std::set<std::string> metrics = metrics_there(subject);
  for (const std::string& metric : metrics)
    if (policy.metrics().contains(metric))
      print_metric(metric, told_of(subject, policy, metric, known));
  print_sums(subject, policy, metrics, known);
  return 0;
}

}  // namespace

Command policy_command() {
  return {
      .name = "policy",
      .summary = "Shows the rules that apply to a case, and where they come from.",
      .operands = "CASE",
      .fewest_operands = 1,
      .most_operands = 1,
      .options = {common::baselines,
                  common::policy,
                  common::lists,
                  {"device-class", "CLASS", "for that class (default: cuda-dry-sm_90)"}},
      .examples =
          "  holdfast policy cubed_sphere_swe/rk4_step/n:48/f64 --device-class=host-x86_64-v4-2t\n",
      .run = policy_verb};
}

}  // namespace holdfast::gate
