// SPDX-License-Identifier: Apache-2.0
// The real `holdfast check --baseline-ref`: which state a change starts from, whatever stands in
// its way, and what is gone since.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "gate/base/store.hpp"
#include "gate/testing/who_judges.hpp"

namespace holdfast::gate {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class StateBefore : public WhoJudges {};

TEST_F(StateBefore, BehindALinkIsNoMergeBase) {
  std::filesystem::rename(baselines_, folder_.path() / "elsewhere");
  std::filesystem::create_directory_symlink("elsewhere", baselines_);
  expect_complaint(judge(), 2, HasSubstr("is a link, behind which git finds nothing"));
  EXPECT_EQ(check(), 0) << "where no change is judged a link is as good";
}

TEST_F(StateBefore, BehindALinkBelowIsNoMergeBaseEither) {
  const std::filesystem::path folder = baseline(toy::dry()).parent_path();
  for (const std::filesystem::path& place : {folder.parent_path(), folder, baseline(toy::dry()),
                                             baselines_ / "policy", common_policy_}) {
    move_behind_link(place);
    expect_complaint(judge(), 2, AllOf(HasSubstr(place.string()), HasSubstr("is a link")));
    EXPECT_EQ(check(), 0) << "where no change is judged a link is as good: " << place;
    std::filesystem::remove(place);
    std::filesystem::rename(baselines_ / "stored", place);
  }
  EXPECT_EQ(judge(), 0) << complaints_;
}

TEST_F(StateBefore, ALinkOfTheMergeBaseIsNoneOfItsFiles) {
  const std::filesystem::path folder = baseline(toy::dry()).parent_path();
  for (const std::filesystem::path& place : {folder, baseline(toy::dry()), common_policy_}) {
    move_behind_link(place);
    begin();
    std::filesystem::remove(place);
    std::filesystem::rename(baselines_ / "stored", place);
    expect_complaint(judge(), 2, AllOf(HasSubstr(" at "), HasSubstr("is a link")));
    begin();
  }
  EXPECT_EQ(judge(), 0) << complaints_;
}

TEST_F(StateBefore, AnotherRepositoryBelowIsNoMergeBase) {
  const std::string folder = baseline(toy::dry()).parent_path();
  git({"init", "--quiet", folder});
  expect_complaint(judge(), 2, AllOf(HasSubstr(folder), HasSubstr("a repository of its own")));
  std::filesystem::remove_all(folder + "/.git");
  const std::string relative = std::filesystem::relative(folder, folder_.path());
  git({"rm", "-r", "--quiet", "--cached", relative});
  git({"update-index", "--add", "--cacheinfo",
       text("160000,", std::string(40, '1'), ',', relative)});
  git({"commit", "--quiet", "--message=a submodule"});
  expect_complaint(judge(), 2, AllOf(HasSubstr(" at "), HasSubstr("a repository of its own")));
}

// Beside a loosened baseline the change brings the accepted one, and what would put that in its
// place before anything is compared.
TEST_F(StateBefore, AnUnfinishedChangeThatGitHasIsNotCarriedOut) {
  const std::filesystem::path place = baseline(toy::dry());
  const std::string accepted = read_file(place);
  const std::string name = std::filesystem::relative(place, baselines_);
  edit([](Baseline& loosened) { loosened.entries[launches].value = 40.0; });
  const std::string loosened = read_file(place);
  write_file(part_of(place), accepted);
  write_file(journal_path(baselines_), canonical(to_json(Journal{{name, sha256(accepted)}})));
  git({"add", "--force", "--all", "baselines"});
  for (const auto& command : {std::vector<std::string>{"check", results_.string()},
                              {"check", results_.string(), "--baseline-ref=HEAD"}}) {
    expect_complaint(holdfast(toy::joined(command, stores())), 2,
                     HasSubstr(": git's index has the file, which is of an unfinished change"));
    EXPECT_EQ(read_file(place), loosened);
  }
  std::filesystem::remove(journal_path(baselines_));
  git({"add", "--all", "baselines"});
  expect_complaint(judge(), 2, HasSubstr(part_of(place).string() + ": git's index has the file"));
  write_file(place, accepted);  // by way of its part
  write_file(part_of(place), accepted);
  git({"add", "--force", "--all", "baselines"});
  begin();
  std::filesystem::remove(part_of(place));
  git({"add", "--all", "baselines"});
  expect_complaint(judge(), 2, HasSubstr(": is of an unfinished change, which git must not have"));
  write_file(journal_path(baselines_), canonical(to_json(Journal{{name, sha256(accepted)}})));
  git({"add", "--force", "--all", "baselines"});
  begin();
  std::filesystem::remove(journal_path(baselines_));
  git({"add", "--all", "baselines"});
  expect_complaint(judge(), 2, HasSubstr(": is of an unfinished change, which git must not have"));
  write_file(baselines_ / "devices/.gitkeep", "");  // of no change
  git({"add", "--force", "--all", "baselines"});
  begin();
  EXPECT_EQ(judge(), 0) << complaints_;
}

TEST_F(StateBefore, AJournalRemovesNothingBehindALink) {
  const std::filesystem::path outside = folder_.path() / "elsewhere";
  std::filesystem::create_directories(outside);
  write_file(outside / "x", "somebody's");
  std::filesystem::create_directory_symlink(outside, baselines_ / "devices/link");
  write_file(journal_path(baselines_),
             canonical(to_json(Journal{{"devices/link/x", std::nullopt}})));
  expect_complaint(holdfast({"baseline", "show", "--baselines=" + baselines_.string()}), 2,
                   HasSubstr("lies behind the link"));
  EXPECT_EQ(read_file(outside / "x"), "somebody's");
}

TEST_F(StateBefore, ASuiteThatNobodyMeasuresAnyMoreIsMissed) {
  add_another_suite();
  EXPECT_EQ(judge(), 0) << output_ << complaints_;
  std::filesystem::remove(results_ / "cuda-dry-sm_90" / "other.json");
  expect_output(judge({"--require-baseline"}), 3,
                AllOf(HasSubstr("MISSING     other  cuda-dry-sm_90  (blocking)"),
                      HasSubstr("of its class only other suites were measured"),
                      HasSubstr("holdfast run other --device=cuda-dry:sm_90")));
  EXPECT_EQ(judge({"--only=toy"}), 0) << "who asks for one suite knows it: " << output_;
  EXPECT_EQ(judge({"--device=cuda-dry:sm_90"}), 0) << output_;
  EXPECT_EQ(check(), 0) << "nor is it missed where no change is judged: " << output_;
}

TEST_F(StateBefore, ASuiteOfWhichNotAllOfTheGateTierWasMeasuredIsMissed) {
  Results now = toy::dry();
  now.cases.pop_back();
  now.partial = true;
  store(now);
  expect_output(judge(), 3, HasSubstr("the merge base has its baseline, and the run was filtered"));
  EXPECT_EQ(judge({"--only=toy"}), 0) << "who asks for one suite knows it: " << output_;
  EXPECT_EQ(check(), 0) << "nor is it missed where no change is judged: " << output_;
  now = toy::dry();
  now.run.sources = "/elsewhere";
  store(now);
  expect_output(judge(), 3, HasSubstr("and its device code was not the build's"));
}

TEST_F(StateBefore, ASuiteWithoutResultsIsGoneWhereThePolicySaysWhy) {
  add_another_suite();
  std::filesystem::remove(results_ / "cuda-dry-sm_90" / "other.json");
  std::filesystem::remove(baseline(toy::dry()).parent_path() / "other.json");
  std::filesystem::remove(lists_ / "other.list.json");
  git({"add", "--all", "baselines"});
  EXPECT_EQ(judge(), 3) << output_;
  policy(no_waivers, R"("waivers": [],
 "removed": [{"match": "other/**", "metric": "*", "why": "the toy does it now"}])");
  expect_output(judge(), 0, AllOf(HasSubstr("ACCEPTED"), HasSubstr("the toy does it now")));
}

TEST_F(StateBefore, AClassThatIsRetiredIsGoneWhereThePolicySaysWhy) {
  accepted(toy::host());
  begin();
  std::filesystem::remove(result_path(toy::host()));
  git({"rm", "--quiet", baseline(toy::host()).string()});
  EXPECT_EQ(judge(), 3) << output_;
  policy(no_waivers, R"("waivers": [], "removed": [{"match": "**", "device": "host-*",
                     "metric": "*", "why": "the machine is gone"}])");
  expect_output(judge(), 0, AllOf(HasSubstr("ACCEPTED"), HasSubstr("the machine is gone")));
  EXPECT_EQ(accept(), 0) << complaints_;
  begin();
  expect_output(judge(), 0, Not(HasSubstr("the machine is gone")));
  git({"checkout", "--quiet", "HEAD~1", "--", baseline(toy::host()).string()});
  expect_complaint(judge(), 2, HasSubstr("its suite lists it on host"));
}

TEST_F(StateBefore, ASuiteOfNothingButBoundsIsMissedWhereItIsNotMeasured) {
  add_another_suite();
  edit([](Baseline& edited) {
    edited.entries.clear();
    edited.bounded = MetricNames{{toy::step_id, {"registers_max"}}};
  });
  begin();
  std::filesystem::remove(result_path(toy::dry()));
  expect_output(judge(), 3, HasSubstr("of its class only other suites were measured"));
}

TEST_F(StateBefore, AClassThatNobodyMeasuredIsToldAndNotWell) {
  accepted(toy::host());
  begin();
  std::filesystem::remove(result_path(toy::host()));
  expect_output(judge(), 0, HasSubstr("passed; toy on host not measured here"));
  Results another = toy::host();
  another.env.device_class = "host-x86_64-v3-2t";
  store(another);
  expect_output(judge(), 0, Not(HasSubstr("not measured here")));
  std::filesystem::remove_all(result_path(another).parent_path());
  store(toy::host());
  std::filesystem::remove(result_path(toy::dry()));
  expect_output(judge(), 0, HasSubstr("passed; toy on cuda-dry-sm_90 not measured here"));
}

// Another number of threads makes another class, of which nothing is accepted.
TEST_F(StateBefore, ASuiteThatNoHostMeasuredIsToldThoughAHostOfAnotherClassMeasuredAnother) {
  accepted(toy::host());
  add_another_suite();
  add_another_suite(toy::host());
  std::filesystem::remove_all(result_path(toy::host()).parent_path());
  Results another = toy::host();
  another.env.device_class = "host-x86_64-v4-4t";
  store(another);
  expect_output(judge(), 0, HasSubstr("passed; other on host not measured here"));
}

// Machines differ, so nobody misses the class that the values were accepted on.
TEST_F(StateBefore, AClassThatTheChangeItselfBringsIsNotWell) {
  accepted(toy::host());
  begin();
  std::filesystem::remove(result_path(toy::host()));
  Results renamed = toy::host();
  renamed.env.device_class = "host-x86_64-v4-2threads";
  toy::metric(renamed, "optimized", "peak_bytes") = toy::exact(9000);
  accepted(renamed);
  expect_output(judge(), 0,
                AllOf(HasSubstr("devices/host-x86_64-v4-2threads/toy.json: none -> 10 accepted"),
                      HasSubstr("(passed; toy on host-x86_64-v4-2threads held against this "
                                "change's own values alone)")));
  begin();
  expect_output(judge(), 0, HasSubstr("(well)"));
}

TEST_F(StateBefore, AProcessorThatTheChangeItselfBringsIsNotWell) {
  accepted(toy::host());
  begin();
  Results renamed = toy::host();
  renamed.env.processor = "AuthenticAMD-26-3";
  accepted(renamed);
  expect_output(judge(), 0,
                HasSubstr("(passed; times of toy on AuthenticAMD-26-3 held against this change's "
                          "own values alone)"));
  begin();
  expect_output(judge(), 0, HasSubstr("(well)"));
}

TEST_F(StateBefore, APolicyFileThatIsGoneIsMissedWhoeverNamesTheFolder) {
  write_file(baselines_ / "policy" / "toy.json",
             R"({"schema": "holdfast-policy/1", "rules": [], "waivers": []})");
  begin();
  std::filesystem::remove(baselines_ / "policy" / "toy.json");
  expect_complaint(check(), 3, HasSubstr("toy.json: git's index has the file"));
  expect_complaint(check({"--policy=" + (baselines_ / "policy").string()}), 3,
                   HasSubstr("toy.json: git's index has the file"));
}

TEST_F(StateBefore, ARepositoryThatGitDoesNotReadHidesNothing) {
  write_file(folder_.path() / ".git" / "HEAD", "junk");
  expect_complaint(check(), 3, AllOf(HasSubstr("git cannot list"), HasSubstr("safe.directory")));
}

// As git sets the environment of its hooks.
TEST_F(StateBefore, IsThatOfTheRepositoryAroundWhateverOneAHookNames) {
  one_more_launch();
  for (const auto& [name, value] : {std::pair("GIT_DIR", folder_.path() / ".git"),
                                    {"GIT_WORK_TREE", lists_},
                                    {"GIT_INDEX_FILE", folder_.path() / "nowhere"}}) {
    ::setenv(name, value.c_str(), 1);
    EXPECT_EQ(judge(), 1) << name << ": " << output_ << complaints_;
    std::filesystem::rename(baseline(toy::dry()), folder_.path() / "aside");
    EXPECT_EQ(check(), 3) << name << ": " << output_ << complaints_;
    std::filesystem::rename(folder_.path() / "aside", baseline(toy::dry()));
    ::unsetenv(name);
  }
}

TEST_F(StateBefore, AnOlderPolicyAtAnOlderPlaceIsRead) {
  const std::string old = toy::policy_with(
      R"("metrics": {)",
      R"("metrics": {"launches": {"kind": "exact", "better": "lower", "unit": "1"}, )");
  std::filesystem::remove_all(baselines_ / "policy");
  write_file(baselines_ / "policy.json", old);
  begin();
  std::filesystem::remove(baselines_ / "policy.json");
  std::filesystem::create_directories(baselines_ / "policy");
  write_file(common_policy_, toy::policy_text);
  EXPECT_EQ(judge(), 0) << output_ << complaints_;
  policy(exact_kind, R"("exact": {"gate": "off", "tolerance": 0)");
  EXPECT_EQ(judge(), 1);
}

TEST_F(StateBefore, APolicyIsFoundHoweverItsFolderIsWritten) {
  policy(exact_kind, R"("exact": {"gate": "off", "tolerance": 0)");
  for (const char* ending : {"", "/", "/.", "/../policy"})
    expect_output(judge({"--policy=" + (baselines_ / "policy").string() + ending}), 1,
                  HasSubstr("LOOSENED  gate of launches"));
}

TEST_F(StateBefore, AMergeBaseWithoutAPolicyLeavesTheChangesOwn) {
  std::filesystem::rename(baselines_ / "policy", folder_.path() / "policy");
  begin();
  std::filesystem::rename(folder_.path() / "policy", baselines_ / "policy");
  expect_output(judge(), 0, HasSubstr("the merge base has no policy"));
}

}  // namespace
}  // namespace holdfast::gate
