// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <iostream>

#include "gate/base/error.hpp"
#include "gate/base/git.hpp"
#include "gate/base/printing.hpp"
#include "gate/commands/commands.hpp"
#include "gate/history/append.hpp"
#include "gate/history/branch.hpp"

namespace holdfast::gate {
namespace {

void append(const Options& options, const std::string& store) {
  if (const auto branch = options.value("branch")) require_name("branch", *branch, "a branch");
  // A page links to it.
  const std::string ci = options.value_or("ci", "https://");
  if (!ci.starts_with("https://") && !ci.starts_with("http://"))
    throw Error(Fault::bad_input, text("--ci=", ci, ": give an address, https://..."));
  const Appended appended = append_history(options.operands()[1], store,
                                           {.advisory = options.has("all"),
                                            .repository = options.value_or("repository", "."),
                                            .branch = options.value("branch"),
                                            .ci = options.value("ci")});
  const std::string known = appended.known == 0
                                ? ""
                                : text(", ", plural(appended.known, "run"),
                                       appended.known == 1 ? " was" : " were", " there already");
  tell_done(text(store, ": ", plural(appended.values, "value"), " from ",
                 plural(appended.runs, "run"), " appended", known, '\n'));
  if (!appended.unknown_commits.empty() && !succeeded(git(".", {"--version"}))) {
    std::cerr << "holdfast: git is not installed, so that the subjects and times of commits stay "
                 "unknown\n";
    return;
  }
  for (const std::string& commit : appended.unknown_commits)
    std::cerr
        << "holdfast: " << options.value_or("repository", ".") << " does not have the commit "
        << commit.substr(0, 12)
        << ", so that its subject and time stay unknown; --repository=DIR names one that has\n";
}

void rewrite(const Options&, const std::string& store) {
  const std::size_t old = rewrite_history(store);
  tell_done(text(store, ": ", plural(old, "file"), " of an older kind rewritten\n"));
}

DataBranch data_branch(const Options& options, const std::string& store) {
  DataBranch data{.store = store,
                  .remote = options.value_or("remote", "origin"),
                  .branch = options.value_or("data-branch", "holdfast-data"),
                  .repository = options.value_or("repository", "."),
                  .rewritten = options.has("rewritten")};
  require_name("remote", data.remote, "a remote, an address or a path");
  require_name("data-branch", data.branch, "a branch");
  return data;
}

void fetch(const Options& options, const std::string& store) {
  const DataBranch data = data_branch(options, store);
  const Synced synced = fetch_history(data);
  if (synced.commit.empty()) {
    std::cout << data.remote << " has no branch " << data.branch
              << " yet; holdfast history push makes it\n";
    return;
  }
  tell_done(text(store, ": ", plural(synced.brought, "run"), " of ", data.branch, " at ",
                 synced.commit.substr(0, 12), " brought in, ", plural(synced.own, "run"),
                 " that it does not have\n"));
}

void push(const Options& options, const std::string& store) {
  const DataBranch data = data_branch(options, store);
  const Synced synced = push_history(data);
  const std::string attempt =
      synced.attempts > 1 ? text(", after ", synced.attempts, " attempts") : "";
  tell_done(text(data.branch, " of ", data.remote, " is at ", synced.commit.substr(0, 12),
                 ", with ", plural(synced.own, "run"), " of ", store, attempt, '\n'));
}

struct Verb {
  std::string_view name;
  std::size_t operands;  // with the verb itself
  void (*run)(const Options& options, const std::string& store);
};
constexpr std::array<Verb, 4> verbs = {
    {{"append", 2, append}, {"fetch", 1, fetch}, {"push", 1, push}, {"rewrite", 1, rewrite}}};

int history(const Options& options) {
  const std::string& name = options.operands()[0];
  for (const Verb& verb : verbs) {
    if (verb.name != name) continue;
    if (options.operands().size() != verb.operands)
      throw Error(Fault::bad_input,
                  text("holdfast history ", name,
                       verb.operands > 1 ? " needs DIR, the results root" : " takes no operand"));
    const auto store = options.value("store");
    if (!store)
      throw Error(Fault::bad_input,
                  text("holdfast history ", name, " needs --store=DIR, the folder of the history"));
    verb.run(options, *store);
    return 0;
  }
  throw Error(Fault::bad_input, text("holdfast history has no verb '", name,
                                     "'; it has append, fetch, push and rewrite"));
}

constexpr OptionRow of_append(const OptionRow& row) {
  return row.of("append");
}
constexpr OptionRow of_both(const OptionRow& row) {
  return row.of("fetch, push");
}

}  // namespace

Command history_command() {
  return {
      .name = "history",
      .summary = "Appends results to the history of trends, and shares it on a branch of git.",
      .operands = "append DIR | fetch | push | rewrite",
      .fewest_operands = 1,
      .most_operands = 2,
      .options = {{"store", "DIR",
                   "the folder of the history; append and fetch make it where it is absent"},
                  of_append({"all", "", "advisory metrics too, which at most a bound judges"}),
                  of_append({"branch", "NAME",
                             "the branch that was measured (default: the one checked out)"}),
                  of_append({"ci", "URL", "the address of the CI run that measured"}),
                  OptionRow{"repository", "DIR",
                            "the git repository of the measured commits and of --remote "
                            "(default: .)"}
                      .of("append, fetch, push"),
                  of_both({"remote", "NAME", "a remote, an address or a path (default: origin)"}),
                  of_both({"data-branch", "NAME", "the branch (default: holdfast-data)"}),
                  of_both({"rewritten", "", "take a branch that was pushed by force"})},
      .examples =
          "  holdfast history append build/release/results --store=history\n"
          "  holdfast history push --store=history\n",
      .run = history};
}

}  // namespace holdfast::gate
