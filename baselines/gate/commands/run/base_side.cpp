// SPDX-License-Identifier: Apache-2.0
#include "gate/commands/run/base_side.hpp"

#include <algorithm>

#include "base/sha256.hpp"
#include "gate/compare/comparison.hpp"
#include "gate/documents/beside.hpp"
#include "gate/documents/build_folder.hpp"
#include "gate/measure/processes.hpp"

namespace holdfast::gate {
namespace {

namespace fs = std::filesystem;

List list_of_base(const std::string& bytes) {
  return parse_list(Document("the base's --list=json", bytes));
}

// The base's task, for the cases that both builds list, under whichever name.
SuiteTask task_of_base(SuiteTask task, const fs::path& binary, const Plan& plan) {
  const List own = list_of_base(list_of(binary, {}));
  task.names = former_names(own, plan.aliases);
  const List list = renamed(own, task.names);
  std::vector<ListedCase> common;
  for (const ListedCase& listed : expected_cases(list, plan.device, plan.tier, plan.filter))
    if (std::any_of(task.cases.begin(), task.cases.end(),
                    [&](const ListedCase& one) { return one.id == listed.id; }))
      common.push_back(listed);
  task.cases = common;
  task.folder /= "base";
  task.history += ".base";
  task.label = " of the base";
  return task;
}

}  // namespace

std::optional<fs::path> suite_beside(const Plan& plan, const std::string& suite,
                                     Progress& progress) {
  if (!plan.beside) return std::nullopt;
  fs::path base = *plan.beside / suite;
  const auto runs_alone = [&](const std::string& why) {
    progress.warn(why, ": it runs alone, and is held against what was accepted");
    return std::nullopt;
  };
  if (!fs::exists(base)) return runs_alone(text(plan.beside->string(), " has no suite ", suite));
  const std::string list = list_of(base, {});
  try {
    (void)list_of_base(list);
  } catch (const Error& error) {
    return runs_alone(error.what());
  }
  return base;
}

void run_beside(const fs::path& base, SuiteTask head, const Plan& plan, Progress& progress,
                Sides& sides) {
  const Builds builds({.binary = base}, {.binary = head.binary});
  head.wisdom = head.folder / "wisdom";
  for (auto* seconds : {&head.budget_seconds, &head.bent_budget_seconds})
    if (*seconds) **seconds *= 2;  // for both builds
  SuiteTask of_base = task_of_base(head, base, plan);
  of_base.binary = builds.base().binary;
  head.binary = builds.head().binary;
  run_in_turn(of_base, head, progress, sides);
}

void withdraw_base(const fs::path& folder, const std::string& suite) {
  const fs::path file = base_side(folder, suite);
  for (const fs::path& old : {file, list_path(file.parent_path(), suite)}) {
    std::error_code problem;
    fs::remove(old, problem);
  }
}

std::optional<std::string> keep_base(const fs::path& binary, const Sides& sides, const Plan& plan,
                                     const Results& head,
                                     const std::function<void(Quality&)>& add_machine,
                                     const fs::path& folder, Progress& progress) {
  for (const auto& [id, lost] : sides.base.lost)
    progress.warn("the base lost ", id, ": ", lost.reason);
  if (sides.base.processes.empty()) {
    progress.warn("no values of the base are kept");
    return std::nullopt;
  }
  const std::string list_bytes = list_of(binary, {});
  const List own = list_of_base(list_bytes);
  const List list = renamed(own, former_names(own, plan.aliases));
  Results results = merged(sides.base, sides.head, list.cases, {});
  const Provenance built = provenance(binary);
  const Run of_base = results.run;
  results.run = head.run;  // one run, of two builds
  if (of_base.sources) results.run.sources = of_base.sources;
  results.run.content = built.content;
  results.run.git_sha = built.git_sha;
  results.run.git_dirty = built.dirty || results.run.sources.has_value();
  results.run.binary = sha256(read_file(binary));
  results.run.custom = of_base.custom;
  results.partial = head.partial;
  results.list_hash = sha256(list_bytes);
  add_machine(results.quality);
  const fs::path file = base_side(folder, head.suite);
  std::error_code problem;
  fs::create_directories(file.parent_path(), problem);
  write_file(list_path(file.parent_path(), head.suite), list_bytes);
  write_file(file, canonical(to_json(results)));
  return built.content;
}

}  // namespace holdfast::gate
