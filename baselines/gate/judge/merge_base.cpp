// SPDX-License-Identifier: Apache-2.0
#include "gate/judge/merge_base.hpp"

#include <algorithm>

#include "gate/base/git.hpp"
#include "gate/base/store.hpp"
#include "gate/judge/loosening.hpp"

namespace holdfast::gate {
namespace {

namespace fs = std::filesystem;

constexpr const char* aliases_file = "aliases.json";
constexpr const char* older_policy = "policy.json";  // of all suites, where the folder is now

std::string place_at(const std::string& file, const std::string& commit) {
  return text(file, " at ", commit.substr(0, 12));
}

fs::path around(const fs::path& folder) {
  return folder.parent_path().empty() ? "." : folder.parent_path();
}

// "baselines/policy/" and "." as the folder that they are, so that it has a name.
fs::path as_folder(const fs::path& folder) {
  const fs::path whole = fs::absolute(folder).lexically_normal();
  return whole.has_filename() ? whole : whole.parent_path();
}

std::vector<PolicyFile> policy_files(const Places& places, const std::string& commit) {
  std::vector<PolicyFile> files;
  const fs::path above = around(places.policy);
  const std::string folder = places.policy.filename();
  for (auto& [file, content] : files_at(above, {folder}, commit))
    if (fs::path(file).extension() == ".json" && fs::path(file).parent_path() == folder)
      files.push_back({.name = fs::path(file).filename(),
                       .place = place_at(file, commit),
                       .content = std::move(content)});
  if (!files.empty()) return files;
  for (auto& [file, content] : files_at(places.baselines, {older_policy}, commit))
    files.push_back({.name = "common.json",
                     .place = place_at(older_policy, commit),
                     .content = std::move(content)});
  return files;
}

// git keeps no content for a link or a nested repository.
Error no_content(const std::string& place, const char* what,
                 const char* advice = "put the files themselves there") {
  return Error(
      Fault::bad_input,
      text(place, ": is ", what, ", behind which git finds nothing of the merge base; ", advice));
}

constexpr const char* a_link = "a link";
constexpr const char* a_repository = "a repository of its own";

bool is_in_a_repository(fs::path at) {
  for (; at.has_relative_path(); at = at.parent_path())
    if (fs::exists(at / ".git")) return true;
  return false;
}

// git does not follow links: behind one it finds nothing at the merge base, and nothing would
// judge.
void refuse_links(const fs::path& folder) {
  const fs::path whole = fs::absolute(folder).lexically_normal();
  fs::path at = whole;
  for (; at.has_relative_path() && !fs::exists(at / ".git"); at = at.parent_path())
    if (fs::is_symlink(at)) throw no_content(at.string(), a_link);
  if (at == whole && is_in_a_repository(at.parent_path()))
    throw no_content(at.string(), a_repository);
}

// Refuses links in the working copy, which becomes the next change's merge base.
void refuse_links_below(const fs::path& place) {
  if (fs::is_symlink(place)) throw no_content(place.string(), a_link);
  if (!fs::is_directory(place)) return;
  for (const auto& entry : fs::recursive_directory_iterator(place)) {
    if (entry.path().filename().string().starts_with(".#")) continue;  // an editor's lock
    if (entry.is_symlink()) throw no_content(entry.path().string(), a_link);
    if (entry.path().filename() == ".git")
      throw no_content(entry.path().parent_path().string(), a_repository);
  }
}

// Refuses links at the commit, in `under` below `folder`.
void refuse_links_at(const fs::path& folder, const std::vector<std::string>& under,
                     const std::string& commit) {
  constexpr const char* advice =
      "a change that puts the files themselves there must be merged without this check";
  for (const TreeEntry& entry : tree_at(folder, under, commit)) {
    if (entry.mode == "120000") throw no_content(place_at(entry.path, commit), a_link, advice);
    if (entry.mode == "160000")
      throw no_content(place_at(entry.path, commit), a_repository, advice);
  }
}

// An unfinished change that was merged hid from its check what it replaces.
void refuse_changes_at(const fs::path& folder, const std::string& commit) {
  for (const TreeEntry& entry : tree_at(folder, {"."}, commit))
    if (is_of_a_change(entry.path))
      throw Error(Fault::bad_input,
                  text(place_at(entry.path, commit),
                       ": is of an unfinished change, which git must not have; a change that takes "
                       "it out must be merged without this check"));
}

void refuse_links_of(const Places& places, const std::string& commit) {
  for (const fs::path& folder : {places.baselines, places.policy}) refuse_links(folder);
  refuse_links_below(places.policy);
  for (const char* place : {"devices", aliases_file}) refuse_links_below(places.baselines / place);
  refuse_links_at(places.baselines, {"devices", aliases_file, older_policy}, commit);
  refuse_links_at(around(places.policy), {places.policy.filename()}, commit);
}

}  // namespace

MergeBase read_merge_base(const Places& given, const std::string& commit,
                          const std::string& today) {
  const Places places{.baselines = given.baselines, .policy = as_folder(given.policy)};
  refuse_links_of(places, commit);
  refuse_changes_at(places.baselines, commit);
  MergeBase base{.commit = commit};
  if (const auto files = policy_files(places, commit); !files.empty())
    base.policy = std::make_shared<const Policy>(Policy::of(files, today, Policy::Age::earlier));
  auto files = files_at(places.baselines, {aliases_file, "devices"}, commit);
  if (const auto aliases = files.extract(aliases_file))
    base.aliases = Aliases::parse(
        Document(place_at(aliases_file, commit), aliases.mapped(), Comments::allowed));
  for (const auto& [place, content] : files) {
    if (fs::path(place).extension() != ".json") continue;
    base.baselines[place] = parse_baseline(Document(place_at(place, commit), content));
    base.aliases.rename(base.baselines[place]);
  }
  return base;
}

std::string reason_of(const Removal* removal, const Policy* before) {
  if (!removal) return "";
  const auto& then = before ? before->removals() : std::vector<Removal>();
  const bool known = std::any_of(then.begin(), then.end(), [&](const Removal& one) {
    return one.match == removal->match && one.device == removal->device &&
           one.variant == removal->variant && one.metrics == removal->metrics &&
           one.processor == removal->processor && one.tier == removal->tier &&
           one.why == removal->why;
  });
  const bool is_reason =
      known || is_new(removal->why, before ? before->reasons() : std::set<std::string>());
  return is_reason ? removal->why : "";
}

std::string present_name(const MergeBase& base, const Aliases& aliases,
                         const std::string& case_id) {
  return aliases.current(base.aliases.current(case_id));
}

bool has_same_code(const Entries& before, const EntryName& then, const Entries& after,
                   const EntryName& now) {
  const auto old = before.find(entry_key(then.case_id, then.variant, "identity")),
             young = after.find(entry_key(now.case_id, now.variant, "identity"));
  return old != before.end() && young != after.end() && old->second.value == young->second.value;
}

MetricNames known_metrics(const MergeBase& base) {
  MetricNames known;
  for (const auto& [place, baseline] : base.baselines) {
    for (const auto& [processor, entries] : by_processor(baseline))
      for (const auto& [key, entry] : *entries)
        known[entry_name(key).case_id].insert(metric_of(key));
    for (const auto& [id, metrics] : baseline.bounded.value_or(MetricNames()))
      known[id].insert(metrics.begin(), metrics.end());
  }
  return known;
}

Policy held_to(const MergeBase& base, const ChangeSet& change) {
  Policy::Precedent precedent{.policy = base.policy};
  for (const auto& [then, metrics] : known_metrics(base)) {
    const std::string now = present_name(base, change.aliases, then);
    for (const std::string& metric : metrics) precedent.values.insert(now + '|' + metric);
    if (now != then) precedent.old_names[now] = then;
  }
  return change.policy.held_to(std::move(precedent));
}

std::set<std::string> reasoned_metrics(const MergeBase& base, const Policy& policy,
                                       const Meanings& metrics) {
  const std::set<std::string> known =
      base.policy ? base.policy->reasons() : std::set<std::string>();
  std::set<std::string> reasoned;
  for (const auto& [name, meaning] : metrics) {
    if (is_new(policy.why_of_metric(name), known)) reasoned.insert(name);
  }
  return reasoned;
}

}  // namespace holdfast::gate
