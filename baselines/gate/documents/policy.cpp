// SPDX-License-Identifier: Apache-2.0
#include "gate/documents/policy.hpp"

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <set>

namespace holdfast::gate {
namespace {

namespace fs = std::filesystem;

// Whether a class of `kind` (host, cuda, cuda-dry) can match the glob: decided by what stands
// before its first star. Classes of real GPUs are called after the GPU, "nvidia-h200".
bool kind_can_match(const std::string& device, const std::string& kind) {
  const std::string prefix = device.substr(0, device.find('*'));
  if (kind == "cuda") return !prefix.starts_with("host") && !prefix.starts_with("cuda");
  return prefix.starts_with(kind) || kind.starts_with(prefix);
}

bool matches_something(const Scope& scope, const std::vector<List>& lists) {
  for (const List& list : lists) {
    for (const ListedCase& listed : list.cases) {
      if (!matches_glob(scope.match, listed.id)) continue;
      for (const auto& [kind, named] : listed.devices) {
        const std::vector<std::string>& metrics = named;
        if (!scope.device.empty() && !kind_can_match(scope.device, kind)) continue;
        const bool all =
            std::all_of(scope.metrics.begin(), scope.metrics.end(), [&](const std::string& name) {
              return std::find(metrics.begin(), metrics.end(), name) != metrics.end();
            });
        if (all) return true;
      }
    }
  }
  return false;
}

bool speaks_of_a_listed_suite(const Scope& scope, const std::vector<List>& lists) {
  const std::string suite = scope.match.substr(0, scope.match.find('/'));
  return std::any_of(lists.begin(), lists.end(),
                     [&](const List& list) { return matches_glob(suite, list.suite); });
}

// What is gone is not listed any more, or not in a tier that baselines hold.
void refuse_listed(const Removal& removal, const std::vector<List>& lists) {
  for (const List& list : lists)
    for (const ListedCase& listed : list.cases) {
      if (!matches_glob(removal.match, listed.id) || !tier_includes("gate", listed.tier)) continue;
      if (removal.variant == "reference" && !listed.reference) continue;
      for (const auto& [kind, metrics] : listed.devices)
        for (const std::string& metric : metrics)
          if ((removal.device.empty() || kind_can_match(removal.device, kind)) &&
              matches_glob(removal.metrics.front(), metric))
            throw Error(Fault::bad_input,
                        text(removal.place, ": 'removed' says that ", metric, " of ", listed.id,
                             " is gone, and its suite lists it on ", kind,
                             "; narrow the removal, or take it out"));
    }
}

constexpr const char* common_file = "common.json";

Error one_file(const fs::path& file) {
  return Error(Fault::bad_input,
               text(file.string(),
                    ": the policy is a folder now: put 'kinds', and of 'metrics' what "
                    "differs from them, into policy/",
                    common_file,
                    ", the rules and waivers of each "
                    "suite into policy/<suite>.json, and remove this file"));
}

bool contains(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

const char* name_of(Gate gate) {
  return gate == Gate::block ? "block" : gate == Gate::warn ? "warn" : "off";
}

std::string kind_of_class(const std::string& device_class) {
  if (is_host_class(device_class)) return "host";
  return device_class.starts_with("cuda-dry") ? "cuda-dry" : "cuda";
}

bool matches_glob(std::string_view pattern, std::string_view text) {
  if (pattern.empty()) return text.empty();
  if (pattern.starts_with("**")) {
    for (std::size_t skip = 0; skip <= text.size(); ++skip)
      if (matches_glob(pattern.substr(2), text.substr(skip))) return true;
    return false;
  }
  if (pattern.front() == '*') {
    for (std::size_t skip = 0;; ++skip) {
      if (matches_glob(pattern.substr(1), text.substr(skip))) return true;
      if (skip == text.size() || text[skip] == '/') return false;
    }
  }
  return !text.empty() && pattern.front() == text.front() &&
         matches_glob(pattern.substr(1), text.substr(1));
}

bool differ_in_patch_level(const std::optional<std::string>& compiler,
                           const std::optional<std::string>& other) {
  if (!compiler || !other || *compiler == *other) return false;
  const auto branch = [](const std::string& version) {
    return version.substr(0, version.find('.'));
  };
  return branch(*compiler) == branch(*other);
}

bool Scope::covers_case(const std::string& case_id, const std::string& device_class) const {
  return (device.empty() || matches_glob(device, device_class)) && matches_glob(match, case_id);
}

std::string Scope::metric_name() const {
  std::string name;
  for (const std::string& part : metrics) name += (name.empty() ? "" : "+") + part;
  return name;
}

Policy Policy::read(const fs::path& folder, const std::string& today) {
  for (const fs::path& former : {folder, fs::path(folder.string() + ".json")})
    if (fs::is_regular_file(former)) throw one_file(former);
  const fs::path common = folder / common_file;
  if (!fs::exists(folder))
    throw Error(Fault::bad_input, text("there is no policy ", folder.string(),
                                       "; name it with --policy, or its folder with --baselines"));
  if (!fs::exists(common))
    throw Error(Fault::bad_input, text(folder.string(), ": has no ", common_file,
                                       ", which says what holds for all suites"));
  std::set<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".json") paths.insert(entry.path());
  std::vector<PolicyFile> files;
  for (const fs::path& path : paths)
    files.push_back({path.filename(), path.string(), read_file(path)});
  return of(files, today, Age::current);
}

Policy Policy::of(const std::vector<PolicyFile>& files, const std::string& today, Age age) {
  const auto parsed = [&](const PolicyFile& file) {
    return parse(Document(file.place, file.content, Comments::allowed), today, age);
  };
  const auto common = std::find_if(files.begin(), files.end(),
                                   [](const PolicyFile& file) { return file.name == common_file; });
  if (common == files.end())
    throw Error(Fault::bad_input, "the policy has no common.json, which says what holds for all");
  Policy policy = parsed(*common);
  if (!policy.for_all_)
    throw Error(Fault::bad_input, text(policy.file_, ": has no 'kinds', which all suites need"));
  for (const PolicyFile& file : files)
    if (&file != &*common) policy.add(fs::path(file.name).stem(), parsed(file));
  return policy;
}

// A suite's file follows common.json, so that its rules override those for all.
void Policy::add(const std::string& suite, Policy rules) {
  if (rules.for_all_)
    throw Error(Fault::bad_input, text(rules.file_, ": 'kinds' hold for all suites and stand in ",
                                       common_file, "; here stand the rules of ", suite));
  const auto refuse_others = [&](const Scope& scope, const char* what) {
    if (!scope.match.starts_with(suite + '/'))
      throw Error(Fault::bad_input, text(scope.place, ": this ", what, " speaks of ", scope.match,
                                         ", and its file is that of ", suite, "; move it"));
  };
  for (Rule& rule : rules.rules_) {
    refuse_others(rule, "rule");
    rules_.push_back(std::move(rule));
  }
  for (Waiver& waiver : rules.waivers_) {
    refuse_others(waiver, "waiver");
    waivers_.push_back(std::move(waiver));
  }
  for (Removal& removal : rules.removals_) {
    refuse_others(removal, "removal");
    removals_.push_back(std::move(removal));
  }
  files_[suite] = rules.file_;
}

Policy Policy::with(const Meanings& metrics) const {
  Policy policy = *this;
  policy.metrics_ = metrics;
  for (const auto& [name, meaning] : metrics)
    if (!kinds_.contains(meaning.kind))
      throw Error(Fault::bad_input, text(file_, ": the metric ", name, " is of the kind '",
                                         meaning.kind, "', which 'kinds' does not have"));
  if (!has_precedent()) return policy;
  Meanings known = metrics;
  std::erase_if(
      known, [&](const auto& metric) { return !precedent_.policy->has_kind(metric.second.kind); });
  policy.precedent_.policy = std::make_shared<const Policy>(precedent_.policy->with(known));
  return policy;
}

Policy Policy::held_to(Precedent precedent) const {
  Policy policy = *this;
  policy.precedent_ = std::move(precedent);
  return policy;
}

std::string Policy::old_name(const std::string& case_id) const {
  const auto at = precedent_.old_names.find(case_id);
  return at == precedent_.old_names.end() ? case_id : at->second;
}

bool Policy::is_precedent(const std::string& case_id, const std::string& device_class,
                          const std::string& variant, const std::string& metric,
                          const std::string& kind) const {
  if (!has_precedent()) return false;
  const Policy& before = *precedent_.policy;
  const auto meaning = metrics_.find(metric);
  if (!before.has_kind(meaning == metrics_.end() ? kind : meaning->second.kind)) return false;
  if (precedent_.values.contains(case_id + '|' + metric)) return true;
  return std::any_of(before.rules_.begin(), before.rules_.end(), [&](const Rule& rule) {
    return contains(rule.metrics, metric) && (rule.variant.empty() || rule.variant == variant) &&
           rule.covers_case(old_name(case_id), device_class);
  });
}

std::size_t Policy::most_suspects() const {
  return has_precedent() ? std::min(most_suspects_, precedent_.policy->most_suspects_)
                         : most_suspects_;
}

Standard Policy::standard(const std::string& case_id, const std::string& device_class,
                          const std::string& variant, const std::string& metric,
                          const std::string& declared_kind) const {
  if (is_precedent(case_id, device_class, variant, metric, declared_kind))
    return precedent_.policy->standard(old_name(case_id), device_class, variant, metric,
                                       declared_kind);
  return own_standard(case_id, device_class, variant, metric, declared_kind);
}

// The merge base's bounds on sums, and those that this policy adds.
std::vector<Sum> Policy::sums(const std::string& case_id, const std::string& device_class,
                              const std::string& variant) const {
  std::vector<Sum> found = own_sums(case_id, device_class, variant);
  if (!has_precedent()) return found;
  std::vector<Sum> before = precedent_.policy->own_sums(old_name(case_id), device_class, variant);
  for (Sum& sum : found)
    if (std::none_of(before.begin(), before.end(),
                     [&](const Sum& one) { return one.metrics == sum.metrics; }))
      before.push_back(std::move(sum));
  return before;
}

const Removal* Policy::removal(const std::string& case_id, const std::string& device_class,
                               const std::string& variant, const std::string& metric) const {
  for (const Removal& removal : removals_)
    if (matches_glob(removal.metrics.front(), metric) &&
        (removal.variant.empty() || removal.variant == variant) &&
        removal.covers_case(case_id, device_class))
      return &removal;
  return nullptr;
}

const Absence* Policy::absence(const std::string& device_class, const std::string& metric,
                               const std::string& reason) const {
  for (const Absence& absence : absences_)
    if (matches_glob(absence.metric, metric) && matches_glob(absence.device, device_class) &&
        reason.find(absence.reason) != std::string::npos)
      return &absence;
  return nullptr;
}

std::string Policy::why_of_metric(const std::string& metric) const {
  const auto row = rows_.find(metric);
  return row == rows_.end() ? "" : row->second.said.why;
}

std::string Policy::on_request(const std::string& metric) const {
  const auto row = rows_.find(metric);
  return row == rows_.end() ? "" : row->second.on_request;
}

Standard Policy::own_standard(const std::string& case_id, const std::string& device_class,
                              const std::string& variant, const std::string& metric,
                              const std::string& declared_kind) const {
  Standard standard;
  if (const auto known = metrics_.find(metric); known != metrics_.end()) {
    standard.kind = known->second.kind;
    standard.better = known->second.better;
    standard.unit = known->second.unit;
  } else {
    standard.kind = declared_kind;
  }
  const auto kind = kinds_.find(standard.kind);
  if (kind == kinds_.end() || (!metrics_.contains(metric) && standard.kind != "advisory"))
    throw Error(Fault::bad_input,
                text("the metric ", metric, " of ", case_id, " (", declared_kind,
                     ") is not among the 'metrics' of its suite's list; declare it in the suite, "
                     "with its kind, its unit and which way is better"));
  standard.gate = kind->second.gate;
  standard.tolerance = is_host_class(device_class)
                           ? kind->second.host_tolerance.value_or(kind->second.tolerance)
                           : kind->second.tolerance;
  standard.same = kind->second.same;
  standard.two_sided = contains(kind->second.two_sided, variant);
  standard.drift_blocks = kind->second.drift_blocks;
  for (const char* what : {"gate", "tolerance", "versions", "both ways", "drift", "patch tolerance",
                           "on request", "impossible above", "falls"})
    standard.said[what] = kind->second.said;
  if (const auto row = rows_.find(metric); row != rows_.end()) {
    standard.gate = row->second.gate.value_or(standard.gate);
    standard.tolerance = row->second.tolerance.value_or(standard.tolerance);
    standard.patch_tolerance = row->second.patch_tolerance;
    standard.on_request = row->second.on_request;
    standard.same = row->second.same.value_or(standard.same);
    standard.impossible_above = row->second.impossible_above;
    standard.fall_is_change = row->second.fall_is_change;
    for (const char* what : {"patch tolerance", "on request", "impossible above", "falls"})
      standard.said[what] = row->second.said;
    if (row->second.gate) standard.said["gate"] = row->second.said;
    if (row->second.tolerance) standard.said["tolerance"] = row->second.said;
    if (row->second.same) standard.said["versions"] = row->second.said;
  }
  standard.sources.push_back(text("kind ", standard.kind, ": gate ", name_of(standard.gate),
                                  ", tolerance ", 100 * standard.tolerance, " %",
                                  standard.two_sided ? ", both ways" : ""));
  if (standard.patch_tolerance)
    standard.sources.push_back(text("between patch levels of one compiler: tolerance ",
                                    100 * *standard.patch_tolerance, " %"));
  if (!standard.on_request.empty())
    standard.sources.push_back(text("measured where ", standard.on_request, " asks for it"));
  if (!standard.fall_is_change.empty()) {
    std::string beside;
    for (const std::string& name : standard.fall_is_change)
      beside += (beside.empty() ? "" : ", ") + name;
    standard.sources.push_back(beside == "*"
                                   ? "a fall is CHANGED, and accepted with a reason"
                                   : text("a fall is CHANGED beside a worsening of ", beside));
  }
  const auto covers = [&](const Scope& scope) {
    return scope.metrics.size() == 1 && scope.metrics.front() == metric &&
           (scope.variant.empty() || scope.variant == variant) &&
           scope.covers_case(case_id, device_class);
  };
  for (const Rule& rule : rules_) {
    if (!covers(rule)) continue;
    std::string said;
    if (rule.tolerance) {
      standard.tolerance = *rule.tolerance;
      standard.own_tolerance = true;
      standard.said["tolerance"] = {rule.place, rule.why};
      said += text(", tolerance ", 100 * *rule.tolerance, " %");
    }
    if (rule.bound) {
      standard.bounds.push_back(&rule);
      if (rule.bound->min) said += text(", at least ", *rule.bound->min);
      if (rule.bound->max) said += text(", at most ", *rule.bound->max);
      said += text(" (", rule.bound->source, ")");
    } else if (rule.gate) {
      standard.gate = *rule.gate;  // beside a bound, a gate speaks of the bound alone
      standard.said["gate"] = {rule.place, rule.why};
    }
    if (rule.gate) said += text(", gate ", name_of(*rule.gate));
    standard.sources.push_back(text(rule.place, ": ", said.substr(2)));
    if (rule.tolerance || !rule.bound) standard.set_by = standard.sources.back();
  }
  for (const Waiver& waiver : waivers_) {
    if (!covers(waiver)) continue;
    standard.waiver = &waiver;
    standard.sources.push_back(
        text(waiver.place, ": waived until ", waiver.until, ": ", waiver.why));
  }
  return standard;
}

std::vector<Sum> Policy::own_sums(const std::string& case_id, const std::string& device_class,
                                  const std::string& variant) const {
  const auto covers = [&](const Scope& scope) {
    return (scope.variant.empty() || scope.variant == variant) &&
           scope.covers_case(case_id, device_class);
  };
  std::vector<Sum> found;
  for (const Rule& rule : rules_) {
    if (rule.metrics.size() == 1 || !covers(rule)) continue;
    auto sum = std::find_if(found.begin(), found.end(),
                            [&](const Sum& one) { return one.metrics == rule.metrics; });
    if (sum == found.end())
      sum = found.insert(sum, {.name = rule.metric_name(), .metrics = rule.metrics});
    sum->standard.bounds.push_back(&rule);
  }
  for (const Waiver& waiver : waivers_)
    for (Sum& sum : found)
      if (sum.metrics == waiver.metrics && covers(waiver)) sum.standard.waiver = &waiver;
  return found;
}

std::vector<const Rule*> Policy::idle_rules(const std::vector<List>& lists, bool complete) const {
  std::vector<const Rule*> idle;
  for (const Rule& rule : rules_)
    if ((complete || speaks_of_a_listed_suite(rule, lists)) && !matches_something(rule, lists))
      idle.push_back(&rule);
  return idle;
}

void Policy::check_against(const std::vector<List>& lists, bool complete) const {
  const auto refuse = [&](const Scope& scope, const char* what) {
    if ((!complete && !speaks_of_a_listed_suite(scope, lists)) || matches_something(scope, lists))
      return;
    throw Error(Fault::bad_input,
                text(scope.place, ": this ", what, " matches nothing: no suite lists ", scope.match,
                     scope.device.empty() ? "" : text(" on ", scope.device), " with the metric ",
                     scope.metric_name(), "; mend or remove it"));
  };
  for (const Rule& rule : rules_) refuse(rule, "rule");
  for (const Waiver& waiver : waivers_) refuse(waiver, "waiver");
  for (const Removal& removal : removals_) refuse_listed(removal, lists);
  if (!complete) return;
  const auto any = [&](const auto& test) { return std::any_of(lists.begin(), lists.end(), test); };
  for (const auto& [suite, file] : files_)
    if (!any([&](const List& list) { return list.suite == suite; }))
      throw Error(Fault::bad_input, text(file, ": there is no suite '", suite,
                                         "'; name the file after the suite whose rules it has"));
  for (const auto& [metric, row] : rows_)
    if (!any([&](const List& list) { return list.metrics.contains(metric); }))
      throw Error(Fault::bad_input, text(row.said.place, ": no suite lists the metric ", metric,
                                         "; mend or remove its row"));
}

}  // namespace holdfast::gate
