// SPDX-License-Identifier: Apache-2.0
#include "gate/judge/merge_base.hpp"

#include "gate/base/git.hpp"
#include "gate/documents/baseline_files.hpp"
#include "gate/judge/loosening.hpp"

namespace holdfast::gate {
namespace {

namespace fs = std::filesystem;

constexpr const char* older_policy = "policy.json";  // of all suites, where the folder is now

std::string place_at(const std::string& file, const std::string& commit) {
  return text(file, " at ", commit.substr(0, 12));
}

std::vector<PolicyFile> policy_files(const Places& places, const std::string& commit) {
  std::vector<PolicyFile> files;
  const fs::path around = places.policy.parent_path().empty() ? "." : places.policy.parent_path();
  const std::string folder = places.policy.filename();
  for (const std::string& file : files_at(around, folder, commit))
    if (fs::path(file).extension() == ".json" && fs::path(file).parent_path() == folder)
      files.push_back({.name = fs::path(file).filename(),
                       .place = place_at(file, commit),
                       .content = file_at(around, file, commit).value_or("")});
  if (!files.empty()) return files;
  if (auto older = file_at(places.baselines, older_policy, commit))
    files.push_back({.name = "common.json",
                     .place = place_at(older_policy, commit),
                     .content = std::move(*older)});
  return files;
}

// git follows no link: behind one it finds nothing at the merge base, and nothing would judge.
void refuse_links(const fs::path& folder) {
  fs::path at = fs::absolute(folder).lexically_normal();
  for (; at.has_relative_path() && !fs::exists(at / ".git"); at = at.parent_path())
    if (fs::is_symlink(at))
      throw Error(
          Fault::bad_input,
          text(at.string(), ": is a link, behind which git finds nothing of the merge base; ",
               "put the folder itself there"));
}

}  // namespace

MergeBase read_merge_base(const Places& places, const std::string& commit,
                          const std::string& today) {
  for (const fs::path& folder : {places.baselines, places.policy}) refuse_links(folder);
  MergeBase base{.commit = commit};
  if (const auto files = policy_files(places, commit); !files.empty())
    base.policy = std::make_shared<const Policy>(Policy::of(files, today, Policy::Age::earlier));
  if (const auto aliases = file_at(places.baselines, "aliases.json", commit))
    base.aliases =
        Aliases::parse(Document(place_at("aliases.json", commit), *aliases, Comments::allowed));
  for (const std::string& place : files_at(places.baselines, "devices", commit)) {
    if (fs::path(place).extension() != ".json") continue;
    const auto content = file_at(places.baselines, place, commit);
    base.baselines[place] = parse_baseline(Document(place_at(place, commit), content.value_or("")));
    base.aliases.rename(base.baselines[place]);
  }
  return base;
}

std::string present_name(const MergeBase& base, const Aliases& aliases,
                         const std::string& case_id) {
  return aliases.current(base.aliases.current(case_id));
}

Policy held_to(const MergeBase& base, const ChangeSet& change) {
  Policy::Precedent precedent{.policy = base.policy};
  const auto know = [&](const Entries& entries) {
    for (const auto& [key, entry] : entries) {
      const std::string then = key.substr(0, key.find('|'));
      const std::string now = present_name(base, change.aliases, then);
      precedent.values.insert(now + '|' + metric_of(key));
      if (now != then) precedent.old_names[now] = then;
    }
  };
  for (const auto& [place, baseline] : base.baselines) {
    know(baseline.entries);
    for (const auto& [processor, entries] : baseline.processors) know(entries);
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
