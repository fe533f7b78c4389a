// SPDX-License-Identifier: Apache-2.0
// The real `holdfast history fetch` and `push` against a bare repository on the disk.
#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <thread>

#include "gate/base/git.hpp"
#include "gate/documents/results_root.hpp"
#include "gate/history/series.hpp"
#include "gate/testing/gate_command.hpp"

namespace holdfast::gate {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::SizeIs;

class DataBranchOfAll : public GateCommand {
 protected:
  const fs::path remote_ = folder_.path() / "remote.git";

  void SetUp() override {
    GateCommand::SetUp();
    ASSERT_TRUE(succeeded(gate::git(folder_.path(), {"init", "-q", "--bare", remote_.string()})));
  }
  fs::path machine(const std::string& name) const { return folder_.path() / name; }

  // Measures a run on this machine that is not yet pushed.
  void measure(const std::string& machine_name, int minute) {
    Results results = toy::host();
    results.run.utc = text("2026-11-22T12:", minute < 10 ? "0" : "", minute, ":00Z");
    results.run.content = text("sha256:", machine_name, minute);
    store(results);
    ASSERT_EQ(holdfast({"history", "append", results_.string(),
                        "--store=" + machine(machine_name).string()}),
              0)
        << complaints_;
  }
  std::vector<std::string> sync(const std::string& verb, const std::string& machine_name) const {
    return {"history", verb, "--store=" + machine(machine_name).string(),
            "--remote=" + remote_.string()};
  }
  int push(const std::string& name, const std::vector<std::string>& more = {}) {
    return holdfast(toy::joined(sync("push", name), more));
  }
  int fetch(const std::string& name, const std::vector<std::string>& more = {}) {
    return holdfast(toy::joined(sync("fetch", name), more));
  }
  std::set<std::string> commits(const std::string& name) const {
    std::set<std::string> all;
    for (const HistoryLine& line : read_history(machine(name))) all.insert(line.commit);
    return all;
  }
};

TEST_F(DataBranchOfAll, WhatOneMachinePushesAnotherFetches) {
  measure("a", 1);
  expect_output(push("a"), 0, HasSubstr("with 1 run of"));
  expect_output(fetch("b"), 0, HasSubstr("1 run of holdfast-data"));
  EXPECT_EQ(commits("b"), commits("a"));
  const auto pushed = [&] { return gate::git(remote_, {"rev-parse", "holdfast-data"}).output; };
  const std::string before = pushed();
  expect_output(push("a"), 0, HasSubstr("with 0 runs of"));
  EXPECT_EQ(pushed(), before) << "where nothing is new there is no commit";
}

TEST_F(DataBranchOfAll, BeforeTheFirstPushThereIsNothingToFetch) {
  expect_output(fetch("a"), 0, HasSubstr("no branch holdfast-data yet"));
}

TEST_F(DataBranchOfAll, OfTwoWhoBothMeasuredTheSecondKeepsTheFirst) {
  measure("a", 1);
  measure("b", 2);
  ASSERT_EQ(push("a"), 0) << complaints_;
  ASSERT_EQ(push("b"), 0) << complaints_;
  ASSERT_EQ(fetch("a"), 0) << complaints_;
  EXPECT_EQ(commits("a"), (std::set<std::string>{"sha256:a1", "sha256:b2"}));
  std::set<std::int64_t> orders;
  for (const HistoryLine& line : read_history(machine("a"))) orders.insert(line.order);
  EXPECT_THAT(orders, SizeIs(2)) << "each commit has an order of its own";
}

TEST_F(DataBranchOfAll, OfTwoRunsOfACommitThatBeganInTheSameSecondBothAreKept) {
  for (const std::string name : {"a", "b"}) {
    Results results = toy::host();
    results.run.id = text(results.run.utc, "-", name);
    store(results);
    ASSERT_EQ(
        holdfast({"history", "append", results_.string(), "--store=" + machine(name).string()}), 0)
        << complaints_;
    expect_output(push(name), 0, HasSubstr("with 1 run of"));
  }
  ASSERT_EQ(fetch("a"), 0) << complaints_;
  std::set<std::string> runs;
  for (const HistoryLine& line : read_history(machine("a"))) runs.insert(line.run);
  EXPECT_THAT(runs, SizeIs(2));
}

TEST_F(DataBranchOfAll, OfTwoOldRunsWithoutAnIdThatBeganInTheSameSecondBothAreKept) {
  for (const std::string name : {"a", "b"}) {
    fs::create_directories(machine(name) / "host");
    write_file(machine(name) / "host" / "2025.ndjson",
               text(R"({"case": "toy/step/f64", "class": "host", "commit": "c1", "fp": "sha256:)",
                    name, R"(", "mad": null, "metric": "launches", "order": 1, )",
                    R"("utc": "2025-12-31T12:00:00Z", "value": 4, "variant": "optimized", )",
                    "\"verdict\": null}\n"));
    expect_output(push(name), 0, HasSubstr("with 1 run of"));
  }
  ASSERT_EQ(fetch("a"), 0) << complaints_;
  EXPECT_THAT(read_history(machine("a")), SizeIs(2));
}

TEST_F(DataBranchOfAll, PushersOfOneMomentLoseNothing) {
  const std::vector<std::string> names = {"a", "b", "c", "d"};
  for (std::size_t i = 0; i < names.size(); ++i) measure(names[i], static_cast<int>(i));
  {
    std::vector<std::jthread> pushing;
    for (const std::string& name : names)
      pushing.emplace_back([this, name] {
        const Outcome outcome = run_task(
            {.program = HOLDFAST_BINARY, .arguments = sync("push", name), .timeout_seconds = 120});
        EXPECT_EQ(outcome.code, 0) << outcome.complaints;
      });
  }
  ASSERT_EQ(fetch("e"), 0) << complaints_;
  EXPECT_THAT(commits("e"), SizeIs(names.size()));
}

TEST_F(DataBranchOfAll, ABranchThatWasPushedByForceIsNoticedAndTakenOnRequest) {
  measure("a", 1);
  ASSERT_EQ(push("a"), 0);
  ASSERT_EQ(fetch("c"), 0) << complaints_;
  measure("b", 2);
  // Somebody begins the branch anew.
  ASSERT_TRUE(succeeded(gate::git(remote_, {"update-ref", "-d", "refs/heads/holdfast-data"})));
  ASSERT_EQ(push("b"), 0) << complaints_;
  for (const char* verb : {"fetch", "push"})
    expect_complaint(holdfast(sync(verb, "a")), 2,
                     AllOf(HasSubstr("was rewritten"), HasSubstr("--rewritten")));
  EXPECT_THAT(commits("a"), SizeIs(1));
  expect_complaint(fetch("c"), 2, HasSubstr("was rewritten"));
  ASSERT_EQ(push("a", {"--rewritten"}), 0) << complaints_;
  ASSERT_EQ(fetch("b"), 0) << complaints_;
  EXPECT_THAT(commits("b"), SizeIs(2));
}

TEST_F(DataBranchOfAll, ABranchThatIsGoneIsNoticed) {
  measure("a", 1);
  ASSERT_EQ(push("a"), 0);
  ASSERT_TRUE(succeeded(gate::git(remote_, {"update-ref", "-d", "refs/heads/holdfast-data"})));
  expect_complaint(push("a"), 2, HasSubstr("has no branch holdfast-data any more"));
}

TEST_F(DataBranchOfAll, APushThatWasKilledLocksOutNoOther) {
  measure("a", 1);
  ASSERT_EQ(push("a"), 0) << complaints_;
  measure("a", 2);
  write_file(machine("a") / ".git/refs/holdfast/incoming.lock", "");
  expect_output(push("a"), 0, HasSubstr("with 1 run of"));
}

TEST_F(DataBranchOfAll, APushLeavesTheLocksAndTheIndexOfOtherPrograms) {
  measure("a", 1);
  ASSERT_EQ(push("a"), 0) << complaints_;
  EXPECT_FALSE(fs::exists(machine("a") / ".git/index"));
  measure("a", 2);
  for (const char* lock : {"index.lock", "HEAD.lock", "config.lock"})
    write_file(machine("a") / ".git" / lock, "");
  expect_output(push("a"), 0, HasSubstr("with 1 run of"));
  for (const char* lock : {"index.lock", "HEAD.lock", "config.lock"})
    EXPECT_TRUE(fs::exists(machine("a") / ".git" / lock)) << lock;
}

TEST_F(DataBranchOfAll, AStoreThatGitIsToldToIgnoreIsPushed) {
  measure("a", 1);
  write_file(machine("a") / ".gitignore", "*\n");
  ASSERT_EQ(push("a"), 0) << complaints_;
  ASSERT_EQ(fetch("b"), 0) << complaints_;
  EXPECT_EQ(commits("b"), commits("a"));
}

TEST_F(DataBranchOfAll, WhatElseTheBranchHoldsStays) {
  measure("a", 1);
  ASSERT_EQ(push("a"), 0) << complaints_;
  const fs::path hand = folder_.path() / "hand";
  ASSERT_TRUE(succeeded(gate::git(
      folder_.path(), {"clone", "-q", "-b", "holdfast-data", remote_.string(), hand.string()})));
  write_file(hand / "README.md", "the history of all\n");
  ASSERT_TRUE(succeeded(gate::git(hand, {"add", "README.md"})));
  ASSERT_TRUE(succeeded(gate::git(hand, {"-c", "user.name=t", "-c", "user.email=t@t", "commit",
                                         "-q", "-m", "Say what it is"})));
  ASSERT_TRUE(succeeded(gate::git(hand, {"push", "-q"})));
  measure("a", 2);
  ASSERT_EQ(push("a"), 0) << complaints_;
  EXPECT_EQ(gate::git(remote_, {"cat-file", "blob", "holdfast-data:README.md"}).output,
            "the history of all\n");
}

TEST_F(DataBranchOfAll, ABranchThatThisStoreNeverSawIsNotGone) {
  measure("a", 1);
  ASSERT_EQ(push("a"), 0) << complaints_;
  expect_output(push("a", {"--data-branch=trial"}), 0, HasSubstr("trial of "));
  expect_output(fetch("b", {"--data-branch=trial"}), 0, HasSubstr("1 run of trial"));
  expect_output(push("a"), 0, HasSubstr("with 0 runs of"));
}

TEST_F(DataBranchOfAll, ATreeWhoseNamesLeadElsewhereWritesNothingThere) {
  measure("a", 1);
  ASSERT_EQ(push("a"), 0) << complaints_;
  const auto said = [&](const std::vector<std::string>& arguments, const std::string& input = "") {
    const fs::path file = folder_.path() / "input";
    write_file(file, input);
    const Outcome outcome =
        run_task({.program = "/bin/sh",
                  .arguments = toy::joined({"-c", "in=$1; shift; exec git \"$@\" < \"$in\"", "sh",
                                            file.string(), "-C", remote_.string()},
                                           arguments)});
    return outcome.output.substr(0, outcome.output.find('\n'));
  };
  const fs::path away =
      folder_.path().parent_path() / (folder_.path().filename().string() + ".away");
  std::string object = said({"hash-object", "-w", "--stdin"}, "{}\n");
  object = said({"mktree"}, text("100644 blob ", object, "\tone.ndjson\n"));
  for (const std::string& name :
       {away.filename().string(), std::string(".."), std::string(".."), std::string("class")})
    object = said({"mktree"}, text("040000 tree ", object, '\t', name, '\n'));
  object = said({"-c", "user.name=t", "-c", "user.email=t@t", "commit-tree", object, "-m", "Away"});
  ASSERT_TRUE(succeeded(gate::git(remote_, {"update-ref", "refs/heads/holdfast-data", object})));
  (void)fetch("b");
  EXPECT_FALSE(fs::exists(away / "one.ndjson"));
}

TEST_F(DataBranchOfAll, ADamagedLineOfTheBranchIsToldAndTheStoreStays) {
  measure("a", 1);
  ASSERT_EQ(push("a"), 0);
  ASSERT_EQ(fetch("b"), 0);
  // A hand's edit, pushed as a commit like any other.
  const fs::path hand = folder_.path() / "hand";
  ASSERT_TRUE(succeeded(gate::git(
      folder_.path(), {"clone", "-q", "-b", "holdfast-data", remote_.string(), hand.string()})));
  const auto files = files_by_class(hand, ".ndjson");
  ASSERT_THAT(files, SizeIs(1));
  std::string content = read_file(files[0]);
  content.replace(content.find("\"run\""), 5, "\"ran\"");
  write_file(files[0], content);
  ASSERT_TRUE(succeeded(gate::git(
      hand, {"-c", "user.name=t", "-c", "user.email=t@t", "commit", "-q", "-a", "-m", "Edit"})));
  ASSERT_TRUE(succeeded(gate::git(hand, {"push", "-q"})));
  const auto before = commits("b");
  expect_complaint(
      fetch("b"), 2,
      AllOf(HasSubstr("holdfast-data"), HasSubstr("is damaged"), HasSubstr(".ndjson:")));
  EXPECT_EQ(commits("b"), before);
}

TEST_F(DataBranchOfAll, WhatGitWouldTakeForAnOptionIsNoRemote) {
  measure("a", 1);
  for (const std::string verb : {"fetch", "push"})
    for (const std::string remote : {"--remote=--upload-pack=x:y", "--remote=-v"})
      expect_complaint(holdfast({"history", verb, "--store=" + machine("a").string(), remote,
                                 "--repository=" + folder_.path().string()}),
                       2, AllOf(HasSubstr(remote + ": "), HasSubstr("name a remote")));
  EXPECT_FALSE(fs::exists(machine("a") / ".git"));
}

TEST_F(DataBranchOfAll, WhatIsNoBranchAndNoAddressIsNotAppended) {
  measure("a", 1);
  const auto append = [&](const std::string& option) {
    return holdfast(
        {"history", "append", results_.string(), "--store=" + machine("a").string(), option});
  };
  for (const std::string branch : {"--branch=-x", "--branch=a\xff"})
    expect_complaint(append(branch), 2, HasSubstr("name a branch"));
  expect_complaint(append("--ci=javascript:alert(1)"), 2, HasSubstr("give an address, https://"));
}

TEST_F(DataBranchOfAll, WhatGitWouldTakeForAnOptionIsNoBranch) {
  measure("a", 1);
  expect_complaint(fetch("a", {"--data-branch=-d"}), 2, HasSubstr("--data-branch=-d: "));
  for (const std::string branch : {"--data-branch=-d", "--data-branch=a\xff"})
    expect_complaint(push("a", {branch}), 2, HasSubstr("name a branch"));
  EXPECT_FALSE(fs::exists(machine("a") / ".git"));
}

TEST_F(DataBranchOfAll, ARemoteThatIsNotThereIsToldInGitsOwnWords) {
  measure("a", 1);
  const std::string nowhere = (folder_.path() / "nowhere").string();
  expect_complaint(
      holdfast({"history", "push", "--store=" + machine("a").string(), "--remote=" + nowhere}), 2,
      AllOf(HasSubstr("fatal: '" + nowhere + "' does not appear to be a git"),
            testing::Not(HasSubstr("correct access rights"))));
}

TEST_F(DataBranchOfAll, AFolderOfResultsIsNoStore) {
  store(toy::host());
  const std::string results = "--store=" + results_.string();
  expect_complaint(holdfast({"history", "append", results_.string(), results}), 2,
                   HasSubstr(results + " holds results; name a folder"));
  expect_complaint(holdfast({"history", "fetch", results, "--remote=" + remote_.string()}), 2,
                   HasSubstr("holds results"));
  for (const auto& entry : fs::recursive_directory_iterator(results_))
    EXPECT_NE(entry.path().extension(), ".ndjson") << entry.path();
}

TEST_F(DataBranchOfAll, ARemoteThatNobodyKnowsIsASentence) {
  measure("a", 1);
  expect_complaint(holdfast({"history", "push", "--store=" + machine("a").string(),
                             "--remote=nowhere", "--repository=" + folder_.path().string()}),
                   2, HasSubstr("--remote=nowhere"));
  expect_complaint(holdfast({"history", "push", "--store=" + machine("none").string()}), 2,
                   HasSubstr("holdfast history append"));
}

}  // namespace
}  // namespace holdfast::gate
