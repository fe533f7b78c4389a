// SPDX-License-Identifier: Apache-2.0
#include "gate/commands/check/check_state.hpp"

#include <algorithm>
#include <set>

#include "gate/base/git.hpp"
#include "gate/base/shown_text.hpp"
#include "gate/base/store.hpp"
#include "gate/commands/check/check_measured.hpp"
#include "gate/documents/baseline_files.hpp"
#include "gate/documents/kernel_table.hpp"
#include "gate/documents/verdict_names.hpp"

namespace holdfast::gate {
namespace {

namespace fs = std::filesystem;

fs::path policy_folder(const CheckRequest& request) {
  return request.policy.empty() ? request.baselines / "policy" : request.policy;
}

std::string today_of(const CheckRequest& request) {
  return request.today.empty() ? today_utc() : request.today;
}

bool is_baseline(const fs::path& place) {
  return place.extension() == ".json" && *place.begin() == "devices";
}

void tell_no_policy(Verdict& verdict) {
  verdict.notes.push_back("the merge base has no policy: this change's own rules judge it");
  verdict.caveats.push_back("by this change's own rules alone");
}

bool is_same_but_for_case(const std::string& a, const std::string& b) {
  return a != b && std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
           return std::tolower(static_cast<unsigned char>(x)) ==
                  std::tolower(static_cast<unsigned char>(y));
         });
}

std::map<std::string, KernelTables> kernel_tables(const Root& root) {
  std::map<std::string, KernelTables> tables;
  for (const MeasuredPart& part : root.parts) {
    if (part.no_device()) continue;
    const Results& results = part.results;
    KernelTables& of_part = tables[baseline_file(results.env.device_class, results.suite)];
    for (const CaseResult& result : results.cases)
      for (const auto& [variant, content] : result.variants)
        of_part[entry_key(result.id, variant, kernels_metric)] = kernel_table(content.kernels);
  }
  return tables;
}

}  // namespace

CheckState::CheckState(const CheckRequest& request, const Root& root)
    : request_(request),
      root_(root),
      own_(Policy::read(policy_folder(request), today_of(request))),
      aliases_(Aliases::read(request.baselines)),
      policy_(own_) {
  expect_rules(request.baselines, policy_folder(request));
  own_.check_against(root.lists, root.complete,
                     Store(request.baselines, Store::Use::reading).places("devices/", ".json"));
  aliases_.check_against(root.lists, root.complete);
  if (request.baseline_ref)
    base_ =
        read_merge_base({request.baselines, policy_folder(request)},
                        merge_base(request.baselines, *request.baseline_ref), today_of(request));
  read_copies();
  const std::vector<std::string> tracked = tracked_files(request.baselines);
  refuse_tracked_changes(request.baselines, tracked);
  look_for_lost_files(tracked);
  Baselines present = copies_;
  for (auto& [place, baseline] : present) aliases_.rename(baseline);
  own_.refuse_held(root.lists, present);
  if (!base_) return;
  const ChangeSet change{.policy = own_,
                         .aliases = aliases_,
                         .baselines = present,
                         .lists = root.lists,
                         .complete = root.complete,
                         .measured = tools_,
                         .tables = kernel_tables(root)};
  if (base_->policy) policy_ = held_to(*base_, change);
  changes_ = changes_since(*base_, change);
}

// Reads all copies at once, so that the store cannot change in between.
void CheckState::read_copies() {
  for (const MeasuredPart& part : root_.parts)
    if (const Environment& env = part.results.env; !part.no_device())
      tools_[baseline_file(env.device_class, part.results.suite)] = fingerprint(env);
  std::set<std::string> places;
  for (const auto& [place, tools] : tools_) places.insert(place);
  const Store store(request_.baselines, Store::Use::reading);
  if (base_) {
    for (const auto& [place, baseline] : base_->baselines) places.insert(place);
    for (const std::string& place : store.places("devices/", ".json")) places.insert(place);
  }
  for (const std::string& place : places) {
    const auto content = store.content_of(place);
    if (!content) continue;
    bytes_[place] = read_file(*content);
    copies_[place] = parse_baseline(Document(content->string(), bytes_[place]));
  }
}

void CheckState::look_for_lost_files(const std::vector<std::string>& tracked) {
  const Store store(request_.baselines, Store::Use::reading);
  const std::vector<std::string> there = store.places("devices/", ".json");
  const auto lose = [&](const std::string& place, const std::string& because) {
    if (!store.content_of(place))
      lost_.try_emplace(place, text((request_.baselines / place).string(), ' ', because));
  };
  for (const auto& [place, tools] : tools_) {
    if (fs::is_symlink(fs::symlink_status(request_.baselines / place)))
      lose(place, "is a link to nothing");
    for (const std::string& other : there)
      if (is_same_but_for_case(place, other)) lose(place, text("is not there, and ", other, " is"));
  }
  for (const std::string& place : tracked)
    if (is_baseline(place)) lose(place, "is not there, and git's index has it");
  if (!base_) return;
  for (const auto& [place, baseline] : base_->baselines)
    if (!says_why_gone(baseline)) lose(place, "is not there, and the merge base has it");
}

bool CheckState::says_why_gone(const Baseline& before) const {
  const std::string kind = kind_of_class(before.device_class);
  const auto says_why = [&](const EntryName& name, const std::string& processor) {
    return own_.removal({.case_id = name.case_id,
                         .device_class = before.device_class,
                         .variant = name.variant,
                         .metric = name.metric,
                         .processor = processor,
                         .tier = tier_on(kind, name.case_id, root_.lists, root_.complete)});
  };
  for (const auto& [processor, entries] : by_processor(before))
    for (const auto& [key, entry] : *entries)
      if (!says_why(entry_name(key), processor)) return false;
  for (const auto& [id, metrics] : before.bounded.value_or(MetricNames()))
    for (const std::string& metric : metrics)
      if (!says_why({.case_id = id, .variant = case_variant, .metric = metric}, "")) return false;
  return true;
}

void CheckState::load(Part& part) const {
  const Results& results = part.results;
  const std::string place = baseline_file(results.env.device_class, results.suite);
  part.baseline_path = (request_.baselines / place).string();
  const auto find = [&](const Baselines& in) {
    const auto at = in.find(place);
    return at == in.end() ? std::nullopt : std::optional(at->second);
  };
  part.baseline = find(copies_);
  if (base_) {
    part.proposed = std::move(part.baseline);
    part.baseline = find(base_->baselines);
    if (part.baseline) part.reasons_before = reasons(*part.baseline);
    part.reasoned = reasoned_metrics(*base_, own_, part.list.metrics);
  }
  if (const auto lost = lost_.find(place); lost != lost_.end()) part.lost_baseline = lost->second;
  for (auto* baseline : {&part.baseline, &part.proposed}) {
    if (!*baseline) continue;
    aliases_.rename(**baseline);
    require_class(**baseline, part.baseline_path);
    **baseline = judged_by(results, std::move(**baseline));
  }
}

std::optional<Baseline> CheckState::accepted_here(const Part& part) const {
  const auto at = copies_.find(baseline_file(part.device_class(), part.results.suite));
  if (at == copies_.end()) return std::nullopt;
  Baseline own = at->second;
  aliases_.rename(own);
  return own;
}

std::string CheckState::bytes_of(const std::string& place) const {
  const auto at = bytes_.find(place);
  return at == bytes_.end() ? "" : at->second;
}

void CheckState::tell(Verdict& verdict) const {
  verdict.changes = changes_;
  const auto blocking = std::count_if(changes_.begin(), changes_.end(),
                                      [](const RuleChange& change) { return change.blocking; });
  if (blocking > 0) {
    verdict.notes.push_back(
        text("LOOSENED: ", plural(static_cast<std::size_t>(blocking), "change"),
             " of what judges let more pass, and ", blocking == 1 ? "gives" : "give",
             " no reason of its own; say \"why\" beside a rule, in \"removed\" of what is gone, or "
             "restore the merge base's baselines and accept the values with --why"));
    verdict.exit = worse_exit_code(verdict.exit, exit_code(Fault::regression));
  }
  if (base_ && !base_->policy) tell_no_policy(verdict);
  if (base_) {
    tell_unknown(verdict);
    tell_own_values(verdict);
  }
  // Parts that are not judged; the others report this themselves.
  if (!request_.whole()) return;
  for (const auto& [place, because] : lost_)
    if (!tools_.contains(place))
      miss(fs::path(place).stem(), fs::path(place).parent_path().filename(), because,
           text("git restore ", shell_word((request_.baselines / place).string())), verdict);
  if (base_) tell_unmeasured(verdict);
}

// Reports suites whose baselines are too old to list limits or bounded metrics: they are excused.
void CheckState::tell_unknown(Verdict& verdict) const {
  std::set<std::string> known, measured;  // suites whose limits or values the merge base knows
  for (const auto& [place, baseline] : base_->baselines) {
    if (!baseline.limits.empty()) known.insert(fs::path(place).stem());
    if (!tools_.contains(place)) continue;
    measured.insert(fs::path(place).stem());
    if (!baseline.bounded)
      verdict.not_checked.push_back(text(
          place, ": whether metrics that have bounds alone are gone; the baseline of the merge ",
          "base does not tell, and one that is accepted anew does"));
  }
  for (const std::string& suite : measured)
    if (!known.contains(suite))
      verdict.not_checked.push_back(
          text(suite, ": whether its results may be further from their oracles' than before; no ",
               "baseline of the merge base tells, and one that is accepted anew does"));
}

// A class or processor that the merge base does not know may be a new machine, or one that the
// change calls by another name: what was accepted of it then judges nothing any more. Times are not
// meant where a base beside them judges.
void CheckState::tell_own_values(Verdict& verdict) const {
  for (const MeasuredPart& part : root_.parts) {
    const Results& results = part.results;
    const std::string place = baseline_file(results.env.device_class, results.suite);
    const auto before = base_->baselines.find(place), now = copies_.find(place);
    if (part.no_device() || now == copies_.end()) continue;
    std::string what;
    const auto times = [&](const Baseline& one) { return has_times(judged_by(results, one)); };
    if (before == base_->baselines.end())
      what = text(request_.confirm ? "counts of " : "", results.suite, " on ",
                  results.env.device_class);
    else if (is_host_class(results.env.device_class) && !request_.confirm &&
             !times(before->second) && times(now->second))
      what = text("times of ", results.suite, " on ", timed_on(results));
    if (!what.empty())
      verdict.caveats.push_back(what + " held against this change's own values alone");
  }
}

// A suite that is no longer measured on a device is not judged there, and one word in its
// CMakeLists.txt does that, as a word more filters its cases. Which processors and GPUs exist
// depends on the machine; each is a host of some class, and compiling for a GPU needs none.
void CheckState::tell_unmeasured(Verdict& verdict) const {
  std::set<std::string> of_hosts;  // suites that a host of any class measured
  for (const MeasuredPart& part : root_.parts)
    if (!part.no_device() && is_host_class(part.results.env.device_class))
      of_hosts.insert(part.results.suite);
  std::map<std::string, std::set<std::string>> unmeasured;  // suites by what any machine can do
  for (const auto& [place, baseline] : base_->baselines) {
    if (lost_.contains(place) || says_why_gone(baseline)) continue;
    const std::string suite = fs::path(place).stem();
    const std::string on = fs::path(place).parent_path().filename();
    std::string device, why = "of its class only other suites were measured";
    for (const MeasuredPart& part : root_.parts) {
      if (part.no_device() || part.results.env.device_class != on) continue;
      device = part.results.env.device_name;
      if (part.results.suite == suite) why = no_answer(part.results);
    }
    if (why.empty()) continue;
    if (!device.empty())
      miss(suite, on, "the merge base has its baseline, and " + why,
           measure_command(request_, suite, device), verdict);
    else if (kind_of_class(on) == "cuda-dry")
      unmeasured[on].insert(suite);
    else if (is_host_class(on) && !of_hosts.contains(suite))
      unmeasured["host"].insert(suite);
  }
  for (const auto& [on, suites] : unmeasured)
    verdict.caveats.push_back(
        text(suites.size() == 1 ? *suites.begin() : plural(suites.size(), "suite"), " on ", on,
             " not measured here"));
}

}  // namespace holdfast::gate
