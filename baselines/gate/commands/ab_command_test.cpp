// SPDX-License-Identifier: Apache-2.0
// The real `holdfast ab` on two builds of the fake suite.
#include <gmock/gmock.h>

#include <cmath>

#include "gate/base/json.hpp"
#include "gate/documents/build_folder.hpp"
#include "gate/documents/selftest.hpp"
#include "gate/testing/fake_build.hpp"
#include "gate/testing/fake_suite_command.hpp"

namespace holdfast::gate {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

class AbCommand : public FakeSuiteCommand {
 protected:
  std::string behaviour_ = "ok";

  Outcome ab(const std::vector<std::string>& arguments) const {
    return holdfast(behaviour_, toy::joined({"ab"}, arguments));
  }
  std::string build(const std::string& name, double step_seconds = 1e-3) {
    return toy::fake_build(folder_.path() / name, step_seconds).string();
  }
  // Compares one case of a build with another, whose step takes `head_seconds` instead of 1 ms.
  Outcome compared(double head_seconds, const std::vector<std::string>& more = {}) {
    return ab(toy::joined(
        {build("base"), build("head", head_seconds), "--filter=add", "--unit=0.001", "--real-time"},
        more));
  }
  // A build that lists cases as the fake suite, and runs the shell lines `answers` for each `line`.
  std::string scripted(const std::string& name, const std::string& answers) const {
    const fs::path binary = folder_.path() / name / "fake_suite";
    fs::create_directories(binary.parent_path());
    write_file(binary, text("#!/bin/sh\ncase $1 in --list=json) exec ", FAKE_SUITE_BINARY,
                            " $1 ;; esac\necho ready 1\nwhile read -r line; do case $line in\n"
                            "  batch*) echo ok ;;\n  ",
                            answers, "\nesac; done\n"));
    fs::permissions(binary, fs::perms::owner_all);
    return binary.string();
  }
  void expect_incomplete(const std::string& base, const std::string& head,
                         const std::string& sentence) const {
    expect_output(ab({base, head, "--filter=add", "--unit=0.001", "--real-time"}), 3,
                  AllOf(StartsWith("INCOMPLETE "), HasSubstr(sentence)));
  }
  void expect_refusal(const std::vector<std::string>& arguments, const std::string& sentence) {
    expect_complaint(ab(arguments), 2, AllOf(StartsWith("holdfast: "), HasSubstr(sentence)));
  }
};

TEST_F(AbCommand, EqualBuildsPass) {
  expect_output(
      compared(1e-3), 0,
      AllOf(StartsWith("PASS "), HasSubstr("fake_suite/add/n:8/f64"), HasSubstr("14 units in ")));
}

TEST_F(AbCommand, TenPercentSlowerIsARegression) {
  expect_output(compared(1.1e-3), 1,
                AllOf(StartsWith("REGRESSION "), HasSubstr("+10 % (+10 % .. ")));
}

TEST_F(AbCommand, OneProcessAtATimeIsSaid) {
  expect_output(compared(1.1e-3, {"--alternating", "--tolerance=3"}), 1,
                HasSubstr(" s, one process at a time"));
}

TEST_F(AbCommand, TenPercentFasterIsAnImprovement) {
  expect_output(compared(0.9e-3), 0, StartsWith("IMPROVED "));
}

TEST_F(AbCommand, ColorsItsVerdictWhereThatIsAskedFor) {
  EXPECT_THAT(compared(1.1e-3, {"--color=always"}).output,
              StartsWith("\033[1;31mREGRESSION  \033[0mfake_suite/add"));
  EXPECT_THAT(compared(1e-3, {"--color=always"}).output, StartsWith("\033[32mPASS        \033[0m"));
}

TEST_F(AbCommand, RefusedArgumentsLeaveTheOlderFile) {
  const fs::path kept = folder_.path() / "ab.json";
  write_file(kept, "older");
  const std::string base = build("base"), head = build("head");
  const std::vector<std::vector<std::string>> refused = {{base},
                                                         {base, head + "x"},
                                                         {base, head, "--device=cuda-dry:sm_90"},
                                                         {base, head, "--tolerance=none"},
                                                         {base, head, "--tier=best"},
                                                         {base, head, "--filter=("},
                                                         {base, head, "--filter=nothing"}};
  for (const std::vector<std::string>& arguments : refused) {
    EXPECT_EQ(ab(toy::joined(arguments, std::vector{"--out=" + kept.string()})).code, 2)
        << arguments.back();
    ASSERT_TRUE(fs::exists(kept)) << arguments.back();
  }
  EXPECT_EQ(read_file(kept), "older");
}

TEST_F(AbCommand, AToleranceAboveTheSlowdownLetsItPass) {
  EXPECT_EQ(compared(1.1e-3, {"--tolerance=15"}).code, 0);
}

TEST_F(AbCommand, ASpentBudgetIsNoisyAndUndecided) {
  expect_output(compared(1.1e-3, {"--budget=0.000001"}), 4,
                AllOf(StartsWith("NOISY "), HasSubstr("1 unit in ")));
}

TEST_F(AbCommand, ASuiteThatDiesIsIncompleteWithItsLastWords) {
  behaviour_ = "dies";
  expect_output(compared(1e-3), 3,
                AllOf(StartsWith("INCOMPLETE "), HasSubstr("SIGSEGV"), HasSubstr("about to fall")));
}

TEST_F(AbCommand, ABuildWithoutTheVariantThatIsComparedIsIncompleteOnEitherSide) {
  const std::string well = build("well"), none = scripted("none", "*) echo none ;;");
  expect_incomplete(well, none, "the head's suite answered 'none' when asked for a sample");
  expect_incomplete(none, well, "the base's suite answered 'none' when asked for a sample");
}

TEST_F(AbCommand, AnAnswerBeforeItsQuestionIsNone) {
  // Both lines are written at once, so the second may be there when the first is read.
  const std::string early = scripted("early", R"(*) printf '0.001 0.001\n0.0001 0.0001\n' ;;)");
  expect_incomplete(build("well"), early, "said '0.0001 0.0001' before it was asked");
}

TEST_F(AbCommand, WhatIsMoreOrOtherThanASampleIsNone) {
  const std::string well = build("well");
  for (const char* words : {"0.001 0.001 0 0 0", "0.001 0.001 0 no", "0.001 0.001x", "0.001",
                            "inf 0.001", "1e999 0.001", "0.001 nan"})
    expect_incomplete(well, scripted("odd", text("*) echo ", words, " ;;")),
                      text("the head's suite answered '", words, "' when asked for a sample"));
}

TEST_F(AbCommand, ACaseThatTheHeadLacksIsNamedAndIncomplete) {
  behaviour_ = "scale_of_base_alone";
  const fs::path kept = folder_.path() / "ab.json";
  expect_output(ab({build("base"), build("head", 1.1e-3), "--unit=0.001", "--real-time",
                    "--out=" + kept.string()}),
                3,
                AllOf(HasSubstr("INCOMPLETE  fake_suite/scale/n:8/f64  only the base times it\n"),
                      HasSubstr("REGRESSION  fake_suite/add/n:8/f64  ")));
  const nlohmann::json lost = nlohmann::json::parse(read_file(kept)).at("cases").at(0);
  EXPECT_EQ(lost.at("case"), "fake_suite/scale/n:8/f64");
  EXPECT_EQ(lost.at("verdict"), "INCOMPLETE");
}

TEST_F(AbCommand, ACaseThatAFilterLeavesOutIsLackedByNobody) {
  behaviour_ = "scale_of_base_alone";
  expect_output(compared(1e-3), 0, testing::Not(HasSubstr("scale")));
}

TEST_F(AbCommand, ACaseThatOnlyTheHeadHasIsNamedAndCostsNothing) {
  behaviour_ = "scale_of_head_alone";
  expect_output(ab({build("base"), build("head"), "--unit=0.001", "--real-time"}), 0,
                AllOf(HasSubstr("NEW         fake_suite/scale/n:8/f64  only the head times it\n"),
                      HasSubstr("PASS        fake_suite/add/n:8/f64  ")));
}

TEST_F(AbCommand, AMachineWithoutTheDeviceIsToldApart) {
  const std::string one = build("base");
  behaviour_ = "no_device";
  EXPECT_EQ(ab({one, one, "--unit=0.001"}).code, 77);
}

TEST_F(AbCommand, ASelfTestPrintsTheAlarmRateThatItSaw) {
  expect_output(ab({build("base"), "--selftest", "--trials=2", "--unit=0.001"}), 0,
                HasSubstr("A against A: 0 alarms in 2 decisions (0 %, 95 % interval 0 .. 84.2 %)"));
}

TEST_F(AbCommand, ASelfTestThatDecidesNothingIsUndecidedAndKeepsThat) {
  const fs::path kept = folder_.path() / "fake_suite.selftest.json";
  const Outcome outcome = ab({build("base"), "--selftest", "--trials=1", "--unit=0.001",
                              "--budget=0.000001", "--out=" + kept.string()});
  EXPECT_EQ(outcome.code, 4) << outcome.output;
  EXPECT_EQ(read_self_test(kept).undecided(), 1u);
}

TEST_F(AbCommand, ASelfTestKeepsItsRateWithTheExactInterval) {
  const fs::path kept = folder_.path() / "fake_suite.selftest.json";
  const std::string one = build("base");
  ASSERT_EQ(ab({one, "--selftest", "--trials=3", "--unit=0.001", "--out=" + kept.string()}).code,
            0);
  const SelfTest test = read_self_test(kept);
  EXPECT_EQ(test.suite, "fake_suite");
  EXPECT_EQ(test.device, "host");
  EXPECT_EQ(test.content, provenance(one).content);
  ASSERT_EQ(test.decisions.size(), 3u);
  EXPECT_EQ(test.decisions[1].case_id, "fake_suite/scale/n:8/f64");
  EXPECT_EQ(test.decisions[2].case_id, "fake_suite/add/n:8/f64");
  EXPECT_EQ(test.decisions[2].verdict, "PASS");
  EXPECT_EQ(test.alarm_rate.value, 0);
  EXPECT_EQ(test.alarm_rate.lower, 0);
  EXPECT_NEAR(test.alarm_rate.upper, 1 - std::cbrt(0.025), 1e-9);
}

TEST_F(AbCommand, ASelfTestThatAlarmsMoreThanItsBoundsAllowFailsAndKeepsThat) {
  behaviour_ = "slow_as_head";
  const fs::path kept = folder_.path() / "fake_suite.selftest.json";
  expect_output(ab({build("base"), "--selftest", "--trials=2", "--unit=0.001", "--real-time",
                    "--out=" + kept.string()}),
                1,
                HasSubstr("A against A: 2 alarms in 2 decisions (100 %, 95 % interval 15.8 .. 100 "
                          "%), 0 undecided; more than the 1 % that its bounds allow"));
  EXPECT_EQ(read_self_test(kept).alarms(), 2u);
}

TEST_F(AbCommand, ASelfTestOfASuiteThatDiesLeavesNoOlderOne) {
  const fs::path kept = folder_.path() / "fake_suite.selftest.json";
  write_file(kept, "of another night");
  behaviour_ = "dies";
  expect_complaint(ab({build("base"), "--selftest", "--out=" + kept.string()}), 3,
                   HasSubstr("SIGSEGV"));
  EXPECT_FALSE(fs::exists(kept));
}

TEST_F(AbCommand, TheClockMayBeChosen) {
  EXPECT_EQ(
      ab({build("base"), build("head", 1.1e-3), "--filter=add", "--unit=0.001", "--cpu-time"}).code,
      0);  // the fake suite's CPU time is the same in every build
  EXPECT_EQ(compared(1.1e-3).code, 1);
}

TEST_F(AbCommand, TheDecisionsAndTheirUnitsCanBeKept) {
  const fs::path kept = folder_.path() / "ab.json";
  ASSERT_EQ(compared(1.1e-3, {"--out=" + kept.string()}).code, 1);
  const nlohmann::json found = nlohmann::json::parse(read_file(kept));
  EXPECT_EQ(found.at("cases").at(0).at("verdict"), "REGRESSION");
  EXPECT_EQ(found.at("cases").at(0).at("units").size(), 14u);
  EXPECT_EQ(found.at("cases").at(0).at("control").at("units").size(), 7u);
  EXPECT_EQ(found.at("cases").at(0).at("clock"), "real");
}

TEST_F(AbCommand, NonsenseArgumentsAreRefused) {
  const std::string one = build("base");
  for (const char* number : {"0", "-1", "nan", "inf", "2x"})
    expect_refusal({one, one, text("--tolerance=", number)}, "give a positive number");
  expect_refusal({one, one, "--budget=0"}, "--budget=0");
  expect_refusal({one, one, "--unit=0"}, "--unit=0");
  expect_refusal({one, one, "--cpu-time", "--real-time"}, "exclude each other");
  expect_refusal({one, "--selftest", "--trials=0"}, "--trials=0");
  expect_refusal({one}, "takes two builds");
  expect_refusal({one, one, "--selftest"}, "takes one suite binary");
  expect_refusal({one, one, "--device=cuda-dry:sm_90"}, "executes nothing");
  expect_refusal({one, one, "--filter=no_such_case"}, "no timed case in common");
  expect_refusal({one, one, "--filter=("}, "not a regular expression");
  expect_refusal({one, one, "--tier=x"}, "the tiers are smoke, gate and full");
  expect_refusal({one, one, "--budget=600", "--out=" + (folder_.path() / "none/file").string()},
                 "cannot write");
  expect_refusal({one, (folder_.path() / "none").string()}, "there is no program");
  expect_refusal({"/bin/true", "/bin/true"}, "/bin/true is no suite of holdfast");
}

TEST_F(AbCommand, ASuiteThatNeverEndsALineIsCutOff) {
  behaviour_ = "endless_line";
  expect_output(compared(1e-3), 3, HasSubstr("printed more than 1 MiB and ended no line"));
}

TEST_F(AbCommand, ASuiteThatComplainsWithoutEndIsCutOff) {
  behaviour_ = "endless_complaints";
  expect_output(compared(1e-3), 3, HasSubstr("printed more than 64 MiB to its standard error"));
}

// As if TMPDIR were full: there is no room for the builds.
TEST_F(AbCommand, BuildsThatFindNoRoomHaveASentenceOfTheirOwn) {
  const std::string base = build("base"), head = build("head");
  expect_complaint(
      run_task({.program = "/bin/sh",
                .arguments = {"-c", text("ulimit -f 8; exec ", HOLDFAST_BINARY, " ab ", base, " ",
                                         head, " --filter=add --unit=0.001")},
                .timeout_seconds = 60}),
      2,
      AllOf(StartsWith("holdfast: cannot copy "), HasSubstr("File too large"),
            HasSubstr("TMPDIR names a folder that has room for both")));
}

TEST_F(AbCommand, DifferentSuitesAreNotCompared) {
  const std::string one = build("base");
  const fs::path other = folder_.path() / "other_suite";
  fs::copy_file(one, other);
  expect_refusal({one, other.string()}, "are different suites");
}

}  // namespace
}  // namespace holdfast::gate
