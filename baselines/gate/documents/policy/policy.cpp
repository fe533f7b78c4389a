// SPDX-License-Identifier: Apache-2.0
#include "gate/documents/policy/policy.hpp"
#include "gate/base/shown_text.hpp"

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <regex>
#include <set>

#include "gate/documents/results.hpp"

namespace holdfast::gate {
namespace {

namespace fs = std::filesystem;

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

bool is_device_class(const std::string& name) {
  static const std::regex names(R"(host-[\w.+-]+-\d+t|cuda-dry-sm_\d+|nvidia-[\w.+-]+)");
  return std::regex_match(name, names);
}

bool half_names_cuda_dry(const std::string& device) {
  return device.starts_with("cuda") && !device.starts_with("cuda-dry");
}

std::string kind_of_class(const std::string& device_class) {
  if (is_host_class(device_class)) return "host";
  return device_class.starts_with("cuda-dry") ? "cuda-dry" : "cuda";
}

bool matches_glob(std::string_view pattern, std::string_view text) {
  // Behind the last star of each kind, and where the text that it has not taken begins. Earlier
  // ones took as little as they could, so that giving them more would help none behind them.
  struct Star {
    std::size_t behind = 0, rest = 0;  // 0 where there is none
    bool takes_more(std::string_view from) const { return behind > 0 && rest < from.size(); }
  };
  Star one, two;
  for (std::size_t at = 0, in = 0; at < pattern.size() || in < text.size();) {
    if (pattern.substr(at).starts_with("**")) {
      two = {at += 2, in};
      one = {};
    } else if (pattern.substr(at).starts_with('*')) {
      one = {++at, in};
    } else if (at < pattern.size() && in < text.size() && pattern[at] == text[in]) {
      ++at, ++in;
    } else if (one.takes_more(text) && text[one.rest] != '/') {
      at = one.behind, in = ++one.rest;
    } else if (two.takes_more(text)) {
      at = two.behind, in = ++two.rest;
      one = {};
    } else {
      return false;
    }
  }
  return true;
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

bool Removal::covers(const LostValue& lost) const {
  return covers_case(lost.case_id, lost.device_class) &&
         matches_glob(metrics.front(), lost.metric) &&
         (variant.empty() || variant == lost.variant) &&
         (processor.empty() ||
          (!lost.processor.empty() && matches_glob(processor, lost.processor))) &&
         (tier.empty() || !lost.tier || *lost.tier == tier);
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
  expired_reasons_.merge(rules.expired_reasons_);
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
  // A physical limit holds for any case, also where no baseline has the metric.
  if (const auto row = before.rows_.find(metric);
      row != before.rows_.end() && row->second.impossible_above)
    return true;
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

const Removal* Policy::removal(const LostValue& lost) const {
  const auto at =
      std::ranges::find_if(removals_, [&](const Removal& removal) { return removal.covers(lost); });
  return at == removals_.end() ? nullptr : &*at;
}

const Absence* Policy::absence(const std::string& device_class, const std::string& metric,
                               const std::string& reason) const {
  for (const Absence& absence : absences_)
    if (matches_glob(absence.metric, metric) && matches_glob(absence.device, device_class) &&
        reason.find(absence.reason) != std::string::npos)
      return &absence;
  return nullptr;
}

std::set<std::string> Policy::reasons() const {
  std::set<std::string> reasons;
  const auto learn = [&](const std::string& why) { reasons.insert(as_seen(why)); };
  for (const std::string& why : expired_reasons_) learn(why);
  learn(why_);
  for (const auto& [name, kind] : kinds_) learn(kind.said.why);
  for (const auto& [name, row] : rows_) learn(row.said.why);
  for (const Rule& rule : rules_) learn(rule.why);
  for (const Waiver& waiver : waivers_) learn(waiver.why);
  for (const Removal& removal : removals_) learn(removal.why);
  for (const Absence& absence : absences_) learn(absence.why);
  return reasons;
}

std::set<std::string> Policy::reasons_before() const {
  return has_precedent() ? precedent_.policy->reasons() : std::set<std::string>();
}

std::string Policy::why_of_metric(const std::string& metric) const {
  const auto row = rows_.find(metric);
  return row == rows_.end() ? "" : row->second.said.why;
}

std::string Policy::on_request(const std::string& metric) const {
  const auto row = rows_.find(metric);
  return row == rows_.end() ? "" : row->second.on_request;
}

}  // namespace holdfast::gate
