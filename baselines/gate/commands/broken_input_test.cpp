// SPDX-License-Identifier: Apache-2.0
// The real `holdfast` on broken, missing or mistaken input: it fails closed, with one sentence.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <fstream>

#include "base/testing/sanitizer.hpp"
#include "gate/testing/gate_command.hpp"
#include "gate/testing/traced_command.hpp"

namespace holdfast::gate {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST_F(GateCommand, AFileCutShortIsABadFile) {
  accepted(toy::dry());
  const auto path = result_path(toy::dry());
  write_file(path, read_file(path).substr(0, 1000));
  expect_complaint(check(), 2, HasSubstr("the file is cut short"));
}

TEST_F(GateCommand, NanIsABadFile) {
  accepted(toy::dry());
  spoil(result_path(toy::dry()), "\"value\": 4}", "\"value\": NaN}");
  expect_complaint(check(), 2, HasSubstr("not JSON"));
}

TEST_F(GateCommand, AnUnknownKeyIsNamedWithFileAndLine) {
  accepted(toy::dry());
  spoil(result_path(toy::dry()), "\"partial\"", "\"surprise\": 1, \"partial\"");
  expect_complaint(check(), 2, testing::ContainsRegex("toy\\.json:[0-9]+: unknown key 'surprise'"));
}

TEST_F(GateCommand, AnotherSchemaVersionIsABadFile) {
  accepted(toy::dry());
  spoil(result_path(toy::dry()), "holdfast-results/1", "holdfast-results/2");
  expect_complaint(check(), 2, HasSubstr("the schema is 'holdfast-results/2'"));
}

TEST_F(GateCommand, AMetricWithoutARowInThePolicyIsAnError) {
  store(toy::dry(), "optimized", "surprise", toy::exact(1));
  expect_complaint(check(), 2, HasSubstr("the metric surprise of toy/step/n:64/f64"));
}

TEST_F(GateCommand, ARuleThatMatchesNothingIsAnError) {
  accepted(toy::dry());
  spoil(common_policy_, "toy/step/**", "toy/stpe/**");
  expect_complaint(check(), 2, HasSubstr("this rule matches nothing: no suite lists toy/stpe/**"));
}

TEST_F(GateCommand, AnExpiredWaiverIsAnError) {
  accepted(toy::dry());
  spoil(
      common_policy_, "\"waivers\": []",
      R"("waivers": [{"match": "toy/**", "metric": "launches", "until": "2020-01-01", "why": "old"}])");
  expect_complaint(check(), 2, HasSubstr("expired on 2020-01-01"));
}

TEST_F(GateCommand, AListOfAnotherBuildIsRefused) {
  accepted(toy::dry());
  List other = toy::list();
  other.cases.pop_back();
  write_file(lists_ / "toy.list.json", canonical(to_json(other)));
  expect_complaint(check(), 3, HasSubstr("a list of another build"));
}

// The suite's own options make other cases of the same build.
TEST_F(GateCommand, ACustomRunWithItsOwnListIsRefusedAsOne) {
  accepted(toy::dry());
  List other = toy::list();
  other.cases.pop_back();
  write_file(lists_ / "toy.list.json", canonical(to_json(other)));
  spoil(result_path(toy::dry()), "\"run\": {", "\"run\": {\"custom\": [\"--size=32\"], ");
  expect_complaint(check(), 3,
                   AllOf(HasSubstr("a custom run (--size=32)"), Not(HasSubstr("another build"))));
}

TEST_F(GateCommand, AListThatWasChangedBesideTheResultsIsRefused) {
  accepted(toy::dry());
  spoil(results_ / "cuda-dry-sm_90" / "toy.list.json", "\"gate\"", "\"full\"");
  expect_complaint(check(), 3, HasSubstr("a list of another build"));
}

TEST_F(GateCommand, ACheckWhoseReaderGoesAwayLeavesItsOwnVerdict) {
  accepted(toy::dry());
  ASSERT_EQ(check(), 0);
  store(toy::dry(), "optimized", "launches", toy::exact(5));
  const Outcome cut =
      run_task({.program = "/bin/sh",
                .arguments = {"-c", "{ " HOLDFAST_BINARY " check '" + results_.string() +
                                        "' --baselines='" + baselines_.string() + "' --lists='" +
                                        lists_.string() + "'; } | true"}});
  EXPECT_EQ(cut.code, 0);
  EXPECT_EQ(verdict().exit, 1);
}

TEST_F(GateCommand, ACheckWithoutMemorySaysSoAndLeavesNoOlderVerdict) {
  if (sanitized) GTEST_SKIP() << "a sanitizer maps terabytes before a program begins";
  accepted(toy::dry());
  ASSERT_EQ(check(), 0);
  std::ofstream(results_ / "cuda-dry-sm_90/toy.json", std::ios::app) << std::string(64 << 20, ' ');
  const Outcome starved = run_task(
      {.program = "/bin/sh",
       .arguments = {"-c", "ulimit -v 50000; exec " HOLDFAST_BINARY " check '" + results_.string() +
                               "' --baselines='" + baselines_.string() + "' --lists='" +
                               lists_.string() + "'"}});
  EXPECT_EQ(starved.code, 3);
  EXPECT_THAT(starved.complaints,
              HasSubstr("there is no memory left for this process; see `ulimit -v`"));
  if (std::filesystem::exists(results_ / "verdict.json")) {
    EXPECT_EQ(verdict().exit, 3);
  }
}

TEST_F(GateCommand, ACheckWithdrawsTheOlderVerdictBeforeItBegins) {
  accepted(toy::dry());
  ASSERT_EQ(check(), 0);
  std::filesystem::remove_all(results_ / "cuda-dry-sm_90");
  EXPECT_EQ(check(), 3);
  EXPECT_FALSE(std::filesystem::exists(results_ / "verdict.json") && verdict().exit == 0);
}

// Given by mistake, it is left as it was, and the right command is named.
TEST_F(GateCommand, TheFolderOfADeviceClassIsNoResultsRoot) {
  accepted(toy::host());
  const std::filesystem::path folder = results_ / "host-x86_64-v4-2t";
  store_in(folder, toy::dry());  // as a base beside it, whose place a check would complain about
  const toy::Files before = toy::files_below(results_);
  for (const std::string& given : {folder.string(), (folder / "").string()})
    expect_complaint(holdfast(toy::joined({"check", given}, stores())), 3,
                     HasSubstr(given +
                               " is the folder of a device class; give the one above it: "
                               "holdfast check " +
                               results_.string() + "\n"));
  expect_complaint(holdfast(toy::joined({"baseline", "diff", folder.string()}, stores())), 3,
                   HasSubstr("holdfast baseline diff " + results_.string() + "\n"));
  EXPECT_EQ(toy::files_below(results_), before);
}

TEST_F(GateCommand, AVerdictBesideResultsIsNotReadAsResults) {
  accepted(toy::dry());
  ASSERT_EQ(check(), 0);
  std::filesystem::copy(results_ / "verdict.json", results_ / "cuda-dry-sm_90" / "verdict.json");
  EXPECT_EQ(check(), 0) << complaints_;
  EXPECT_EQ(holdfast({"export", results_.string(), "--format=bmf"}), 0) << complaints_;
}

TEST_F(GateCommand, ACheckOfAFolderOfOtherThingsLeavesItAsItIs) {
  const std::filesystem::path other = folder_.path() / "other";
  for (const char* name : {"verdict.json", "verdict.md", "proposed-baseline.patch"}) {
    std::filesystem::create_directories(other / "devices");
    write_file(other / name, "somebody's");
  }
  write_file(other / "devices" / "toy.json", "{}");
  const toy::Files before = toy::files_below(other);
  EXPECT_NE(holdfast(toy::joined({"check", other.string()}, stores())), 0);
  EXPECT_EQ(toy::files_below(other), before);
}

TEST_F(GateCommand, ARootWhoseRunWasCutOffTellsThatNothingIsThere) {
  std::filesystem::create_directories(results_ / ".unfinished");
  EXPECT_EQ(check(), 3);
  EXPECT_EQ(verdict().exit, 3);
}

TEST_F(GateCommand, AnAbsentFolderIsABadArgument) {
  EXPECT_EQ(holdfast({"check", (folder_.path() / "absent").string()}), 2);
  EXPECT_EQ(check(), 3) << "an empty root is incomplete";
  EXPECT_THAT(complaints_, HasSubstr("there are no results in"));
}

TEST_F(GateCommand, AnArgumentLongerThanAnyNameOfAFileIsRefusedInASentence) {
  store(toy::dry());
  const std::string longer(300, 'a');
  expect_complaint(holdfast({"check", results_.string(), "--policy=" + longer}), 2,
                   "holdfast: cannot use " + longer + ": File name too long\n");
}

TEST_F(GateCommand, ABuildToConfirmWithThatIsAbsentIsABadArgumentEvenOfDryParts) {
  accepted(toy::dry());
  expect_complaint(check({"--confirm=" + (folder_.path() / "typo").string()}), 2,
                   HasSubstr("typo/bin; give the build folder to compare with"));
}

TEST_F(GateCommand, AnExpectedPartThatIsAbsentIsIncomplete) {
  accepted(toy::dry());
  EXPECT_EQ(check({"--expect=toy:cuda-dry:sm_90"}), 0);
  expect_output(check({"--expect=toy:host"}), 3,
                HasSubstr("expected, and there are no results of it"));
  for (const char* wrong : {"toy", ":host", "toy:", "toy:tpu", "toy:cuda-dry"})
    expect_complaint(check({text("--expect=", wrong)}), 2,
                     HasSubstr(text("--expect=", wrong, ": write SUITE:DEVICE, e.g. ")));
}

TEST_F(GateCommand, AnUnwritableRootIsSaidAndLeavesNothingHalfWritten) {
  accepted(toy::dry());
  // A folder in the verdict's place fails for every user, root included.
  std::filesystem::create_directories(results_ / "verdict.json" / "inside");
  expect_complaint(check(), 2, HasSubstr("cannot write"));
  for (const auto& file : std::filesystem::directory_iterator(results_))
    EXPECT_THAT(file.path().filename().string(), Not(HasSubstr(".part")));
}

TEST_F(GateCommand, VerbsWithoutArgumentsPrintTheirUsage) {
  for (const char* verb : {"check", "baseline", "policy"}) {
    expect_complaint(holdfast({verb}), 2, HasSubstr("usage: holdfast " + std::string(verb)));
    expect_output(holdfast({verb, "--help"}), 0, HasSubstr("examples:"));
  }
}

TEST_F(GateCommand, AMistypedCommandIsCorrected) {
  expect_complaint(holdfast({"chekc"}), 2, HasSubstr("did you mean check?"));
}

TEST_F(GateCommand, HelpIsAsGoodAsTheOption) {
  ASSERT_EQ(holdfast({"--help"}), 0);
  const std::string help = output_;
  expect_output(holdfast({"help"}), 0, testing::StrEq(help));
  ASSERT_EQ(holdfast({"check", "--help"}), 0);
  const std::string of_check = output_;
  for (const char* word : {"help", "--help"})
    expect_output(holdfast({word, "check"}), 0, testing::StrEq(of_check));
  expect_complaint(holdfast({"help", "chekc"}), 2, HasSubstr("did you mean check?"));
  EXPECT_EQ(holdfast({"help", "check", "run"}), 2);
  EXPECT_EQ(holdfast({"--version", "check"}), 2);
}

TEST_F(GateCommand, ARefusalTakesThePlaceOfAnOlderVerdict) {
  accepted(toy::dry());
  ASSERT_EQ(check(), 0);
  spoil(result_path(toy::dry()), "\"partial\"", "\"surprise\": 1, \"partial\"");
  EXPECT_EQ(check(), 2);
  EXPECT_EQ(verdict().exit, 2);
  EXPECT_THAT(verdict().notes, testing::ElementsAre(HasSubstr("unknown key 'surprise'")));
  EXPECT_THAT(read_file(results_ / "verdict.md"), HasSubstr("usage or a bad file"));
  EXPECT_THAT(read_file(results_ / "verdict.xml"), HasSubstr("failures=\"1\""));
}

// A list that is a link to itself, for which we have no message of our own.
TEST_F(GateCommand, WhateverStopsACheckTakesThePlaceOfAnOlderVerdict) {
  accepted(toy::dry());
  ASSERT_EQ(check(), 0) << output_;
  const std::filesystem::path list = results_ / "cuda-dry-sm_90" / "toy.list.json";
  std::filesystem::remove(list);
  std::filesystem::create_symlink("toy.list.json", list);
  EXPECT_EQ(check(), 2);
  EXPECT_EQ(verdict().exit, 2);
  EXPECT_THAT(verdict().notes, testing::ElementsAre(HasSubstr("toy.list.json")));
}

// Reading a FIFO would block, and this test with it.
TEST_F(GateCommand, AFifoInThePlaceOfAnyFileIsRefused) {
  accepted(toy::dry());
  const std::filesystem::path dry = results_ / "cuda-dry-sm_90";
  for (const std::filesystem::path& file :
       {dry / "toy.json", dry / "toy.list.json", baseline(toy::dry()), common_policy_,
        baselines_ / "aliases.json", lists_ / "toy.list.json", lists_ / "content.json"}) {
    const std::string before = std::filesystem::exists(file) ? read_file(file) : "";
    std::filesystem::remove(file);
    ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);
    const int code = check();
    EXPECT_THAT(code, testing::AnyOf(2, 3)) << file << output_;
    EXPECT_THAT(complaints_ + output_, HasSubstr(file.filename().string()));
    std::filesystem::remove(file);
    if (!before.empty()) write_file(file, before);
  }
  std::filesystem::remove(results_ / "verdict.json");
  ASSERT_EQ(::mkfifo((results_ / "verdict.json").c_str(), 0600), 0);
  EXPECT_EQ(check(), 0) << complaints_;
}

TEST_F(GateCommand, AnExpectedPartMustBeWhole) {
  accepted(toy::dry());
  Results filtered = toy::dry();
  filtered.partial = true;
  store(filtered);
  expect_output(check({"--expect=toy:cuda-dry:sm_90"}), 3,
                HasSubstr("expected, and the run was filtered"));
  Results smoke = toy::dry();
  smoke.tier = "smoke";
  store(smoke);
  expect_output(check({"--expect=toy:cuda-dry:sm_90"}), 3,
                HasSubstr("expected, and the run was of the tier smoke"));
}

TEST_F(GateCommand, AnUnknownSuiteOrDeviceIsABadArgument) {
  accepted(toy::dry());
  expect_complaint(check({"--only=toi"}), 2,
                   HasSubstr("--only=toi: this build has no such suite; did you mean toy?"));
  expect_complaint(check({"--device=gpu"}), 2,
                   HasSubstr("the devices are host, cuda and cuda-dry:sm_NN"));
}

TEST_F(GateCommand, AnUnknownSuiteOrDeviceIsNeverWaitedForByWhoAccepts) {
  accepted(toy::dry());
  for (const char* verb : {"accept", "diff"}) {
    const auto on = [&](const std::string& part) {
      return holdfast(toy::joined({"baseline", verb, results_.string(), part}, stores()));
    };
    expect_complaint(on("--only=toi"), 2, HasSubstr("did you mean toy?"));
    expect_complaint(on("--device=foo"), 2, HasSubstr("--device=foo: the devices are host"));
    expect_complaint(on("--device=host"), 3, HasSubstr("there are no results"));
  }
}

TEST_F(GateCommand, AFileInTheFoldersPlaceIsSaid) {
  const std::string file = (common_policy_).string();
  expect_complaint(holdfast({"check", file, "--baselines=" + baselines_.string()}), 2,
                   HasSubstr("common.json is not a folder; give the results root"));
}

TEST_F(GateCommand, ADeviceWithoutItsArchitectureIsNone) {
  store(toy::dry());
  for (const char* verb : {"check", "explain"}) {
    std::vector<std::string> words = {verb};
    if (words[0] == "explain") words.push_back(toy::step_id);
    words.push_back(results_.string());
    words.push_back("--device=cuda-dry");
    expect_complaint(holdfast(toy::joined(words, stores())), 2,
                     HasSubstr("--device=cuda-dry: the devices are host, cuda and cuda-dry:sm_NN"));
  }
}

TEST_F(GateCommand, AnExplanationTakesTheCaseFirstAndNeedsBaselines) {
  store(toy::dry());
  expect_complaint(
      holdfast(toy::joined({"explain", results_.string(), "step/n:64"}, stores())), 2,
      HasSubstr("the case comes first: holdfast explain step/n:64 " + results_.string()));
  expect_complaint(holdfast({"explain", toy::step_id, results_.string(), "--baselines=none",
                             "--lists=" + lists_.string()}),
                   2, HasSubstr("there is no folder none; name the accepted baselines"));
}

TEST_F(GateCommand, WhatIsNoSuiteIsNotRun) {
  const std::vector<std::string> more = {"--device=host", "--out=" + results_.string()};
  expect_complaint(holdfast(toy::joined({"run", HOLDFAST_BINARY}, more)), 2,
                   HasSubstr("/holdfast is no suite of holdfast: it refuses --list=json"));
  expect_complaint(holdfast(toy::joined({"run", common_policy_.string()}, more)), 2,
                   HasSubstr("common.json is no program; give the path of a suite's binary"));
}

TEST_F(GateCommand, AnAbsentPolicyIsAskedFor) {
  std::filesystem::remove_all(common_policy_.parent_path());
  expect_complaint(check(), 2, HasSubstr("name it with --policy, or its folder with --baselines"));
}

TEST_F(GateCommand, WhatIsNotKeptIsNotShown) {
  accepted(toy::dry());
  expect_complaint(
      holdfast({"baseline", "show", "--baselines=" + baselines_.string(), "--device-class=no"}), 2,
      HasSubstr("no baseline of the class no is kept"));
  const auto show = [&](const char* word) {
    return holdfast({"baseline", "show", word, "--baselines=" + baselines_.string()});
  };
  expect_output(
      show("step/n:64"), 0,
      AllOf(HasSubstr("toy/step/n:64/f64|optimized|launches"), Not(HasSubstr("toy/sum"))));
  expect_complaint(show("toy/step/n:65/f64"), 2, HasSubstr("did you mean toy/step/n:64/f64?"));
}

TEST_F(GateCommand, AnEmptyHistoryIsSaid) {
  expect_complaint(holdfast({"trend", "--store=" + results_.string()}), 2,
                   HasSubstr("holds no history; begin a history with"));
}

TEST_F(GateCommand, ResultsAreNoHistory) {
  accepted(toy::dry());
  expect_complaint(check({"--store=" + results_.string()}), 2, HasSubstr("holds results; name a"));
}

TEST_F(GateCommand, ALostMetricIsNeitherAcceptedNorProposed) {
  measured_anew(toy::dry(), [](Results& now) {
    now.cases.front().variants["optimized"].metrics.erase("launches");
  });
  EXPECT_EQ(check(), 3);
  EXPECT_FALSE(std::filesystem::exists(results_ / "proposed-baseline.patch"));
  expect_complaint(accept({"--why=gone"}), 3, HasSubstr("launches is listed and was not measured"));
}

TEST_F(GateCommand, ABoundOfTheReferenceIsNotLostWithItsMetric) {
  spoil(common_policy_,
        "\"variant\": \"optimized\", \"metric\": \"launches\", \"bound\": {\"max\": 64",
        "\"metric\": \"launches\", \"bound\": {\"max\": 1000");
  store(toy::dry(),
        [](Results& now) { now.cases.front().variants["reference"].metrics.erase("launches"); });
  expect_output(check(), 3, HasSubstr("launches      has a bound and was not measured"));
}

// One edit of a good file that would hide something if it were believed.
struct Spoilt {
  const char* what;
  const char* file;  // results, baseline or policy
  const char* from;
  const char* to;
  int exit;
};

void PrintTo(const Spoilt& spoilt, std::ostream* out) {
  *out << spoilt.what;
}

class SpoiltFile : public GateCommand, public testing::WithParamInterface<Spoilt> {};

TEST_P(SpoiltFile, NeverPasses) {
  const Spoilt& spoilt = GetParam();
  accepted(toy::host());
  ASSERT_EQ(check(), 0) << output_ << complaints_;
  const std::string file = spoilt.file;
  spoil(file == "results"    ? result_path(toy::host())
        : file == "baseline" ? baseline(toy::host())
                             : common_policy_,
        spoilt.from, spoilt.to);
  EXPECT_EQ(check(), spoilt.exit) << output_ << complaints_;
}

INSTANTIATE_TEST_SUITE_P(
    OneEdit, SpoiltFile,
    testing::Values(
        Spoilt{"AnUnknownKind", "results", "\"kind\": \"ratio\"", "\"kind\": \"none\"", 2},
        Spoilt{"AnUnknownTierOfTheRun", "results", "\"suite\": \"toy\",\n  \"tier\": \"gate\"",
               "\"suite\": \"toy\",\n  \"tier\": \"none\"", 2},
        Spoilt{"ACaseOutOfTheGatesTier", "results", "\"tier\": \"gate\",\n      \"variants\"",
               "\"tier\": \"full\",\n      \"variants\"", 2},
        Spoilt{"NoProcesses", "results", "\"processes\": 5", "\"processes\": 0", 2},
        Spoilt{"AMedianOfNoProcess", "results", "\"median\": 10", "\"median\": 30", 2},
        Spoilt{"ANegativeSpread", "results", "\"mad_between\": 0.05", "\"mad_between\": -0.05", 2},
        Spoilt{"ASpreadOfNoProcesses", "results", "\"mad_between\": 0.05", "\"mad_between\": 5", 2},
        Spoilt{"NegativeBytes", "results", "\"value\": 4096", "\"value\": -4096", 2},
        Spoilt{"AnErrorAboveItsLimit", "results", "\"error\": 1e-15", "\"error\": 1e-3", 1},
        Spoilt{"AResultThatNobodyVerified", "results", "\"status\": \"passed\"",
               "\"status\": \"not_executed\"", 1},
        Spoilt{"ACaseThatWasNotExecuted", "results", "\"executed\": true", "\"executed\": false",
               1},
        Spoilt{"ABaselineOfAnotherClass", "baseline", "\"device_class\": \"host-x86_64-v4-2t\"",
               "\"device_class\": \"host-x86_64-v3-2t\"", 2},
        Spoilt{"ABaselineThatIsNotItsMedian", "baseline", "\"medians\": [10", "\"medians\": [9", 2},
        Spoilt{"AProcessWithoutTime", "results", "\"processes\": [9.9", "\"processes\": [0", 2},
        Spoilt{"ABaselineTooWideToJudge", "baseline", "\"mad_between\": 0.05",
               "\"mad_between\": 5e9", 4},
        Spoilt{"ANegativeBaseline", "baseline", "\"value\": 4096", "\"value\": -1", 2},
        Spoilt{"ALostEntryThatOnlyWarns", "baseline", "|optimized|time_s\"", "|case|time_s\"", 3},
        Spoilt{"AVariantThatNobodyHas", "policy", "\"variant\": \"optimized\"",
               "\"variant\": \"optimised\"", 2}),
    [](const auto& one) { return std::string(one.param.what); });

TEST_F(GateCommand, AFileCutAnywhereNeverPasses) {
  accepted(toy::host());
  for (const std::filesystem::path& path :
       {result_path(toy::host()), baseline(toy::host()), common_policy_}) {
    const std::string whole = read_file(path);
    for (std::size_t tenth = 0; tenth < 10; ++tenth) {
      write_file(path, whole.substr(0, whole.size() * tenth / 10));
      EXPECT_EQ(check(), 2) << path << " cut at " << tenth << "/10";
    }
    write_file(path, whole);
  }
}

}  // namespace
}  // namespace holdfast::gate
