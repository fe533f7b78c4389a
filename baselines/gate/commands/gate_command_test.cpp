// SPDX-License-Identifier: Apache-2.0
// The real `holdfast` on results that are whole: what it says, and with which exit code.
#include <gmock/gmock.h>

#include "gate/measure/gpu_driver.hpp"
#include "gate/testing/gate_command.hpp"
#include "gate/testing/typed_command.hpp"

namespace holdfast::gate {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST_F(GateCommand, TheSameMeasurementPasses) {
  accepted(toy::dry());
  expect_output(check(), 0, HasSubstr("16 PASS -> exit 0 (well)"));
  EXPECT_FALSE(std::filesystem::exists(results_ / "proposed-baseline.patch"));
}

TEST_F(GateCommand, OneMoreLaunchIsARegressionWithBothNumbers) {
  measured_anew(toy::dry(), "optimized", "launches", toy::exact(5));
  expect_output(
      check(), 1,
      AllOf(HasSubstr("REGRESSION  toy/step/n:64/f64  cuda-dry-sm_90  optimized  (blocking)"),
            HasSubstr("launches      rose from 4 to 5 (+25 %), the limit is +0 %"),
            HasSubstr("all 2 kernels identical"), HasSubstr("holdfast explain toy/step/n:64/f64")));
  EXPECT_EQ(verdict().rows.front().sentence.substr(0, 48),
            "toy/step/n:64/f64 optimized on cuda-dry-sm_90: l");
}

TEST_F(GateCommand, TheWorstPartDecidesWhicheverComesLast) {
  accepted(toy::dry());
  accepted(toy::host());
  store(toy::dry(), "optimized", "launches", toy::exact(5));
  EXPECT_EQ(check(), 1);
  store(toy::dry());
  store(toy::host(), "optimized", "peak_bytes", toy::exact(8192));
  EXPECT_EQ(check(), 1);
}

TEST_F(GateCommand, SixteenMoreRegistersNameTheKernel) {
  measured_anew(toy::dry(), [](Results& now) {
    toy::metric(now, "optimized", "registers_max") = toy::codegen(56);
    now.cases.front().variants["optimized"].kernels.front().registers = 56;
    now.cases.front().variants["optimized"].kernels.front().cubin = "sha256:3c";
  });
  expect_output(
      check(), 1,
      AllOf(HasSubstr("registers_max rose from 40 to 56 (+40 %)"),
            HasSubstr("stage: registers 40 -> 56, cubin changed; 1 other kernel identical")));
}

// What the gate proposes for a run with fewer bytes.
class Proposes : public GateCommand {
 protected:
  std::string about_better() {
    check();
    for (const Row& row : verdict().rows)
      if (row.verdict == "IMPROVED") return row.next.value_or("");
    return output_;
  }
  std::string after(const Results& results, const std::function<void(Results&)>& spoil = {}) {
    measured_anew(results, [&](Results& now) {
      toy::metric(now, "optimized", "peak_bytes") = toy::exact(4000);
      if (spoil) spoil(now);
    });
    return about_better();
  }
};

TEST_F(Proposes, ACommandThatAcceptsWithTheCallersStores) {
  const std::string command = after(toy::dry());
  EXPECT_THAT(command, StartsWith("holdfast baseline accept"));
  const Outcome outcome = toy::typed(command);
  EXPECT_EQ(outcome.code, 0) << command << outcome.complaints;
  expect_output(check(), 0, HasSubstr("16 PASS"));
}

TEST_F(Proposes, ToAcceptNothingThatWouldBeRefused) {
  const std::string run = "holdfast run toy --device=";
  EXPECT_THAT(after(toy::dry(), [](Results& now) { now.partial = true; }), StartsWith(run));
  EXPECT_THAT(after(toy::dry(), [](Results& now) { now.run.sources = "/somewhere"; }),
              StartsWith(run));
  EXPECT_THAT(after(toy::dry(), [](Results& now) { now.tier = "smoke"; }),
              AllOf(StartsWith(run), Not(HasSubstr("--tier"))));
  std::filesystem::remove_all(results_ / toy::dry().env.device_class);
  const auto in_three_processes = [](Results& now) {
    for (CaseResult& result : now.cases)
      result.metrics["speedup"] = {.kind = "ratio", .processes = {10, 10, 10}, .median = 10};
  };
  EXPECT_THAT(after(toy::host(), in_three_processes), StartsWith(run));
}

TEST_F(Proposes, ToAcceptAPartAloneWhereAnotherWouldBeRefused) {
  accepted(toy::host());
  (void)after(toy::dry());
  store(toy::host(), [](Results& now) { now.partial = true; });
  const std::string command = about_better();
  const Outcome outcome = toy::typed(command);
  EXPECT_EQ(outcome.code, 0) << command << outcome.complaints;
}

TEST_F(GateCommand, AnotherCompilerExcusesRegisters) {
  measured_anew(toy::dry(), [](Results& now) {
    now.env.nvrtc = "13.1.20";
    toy::metric(now, "optimized", "registers_max") = toy::codegen(56);
  });
  expect_output(check(), 0, HasSubstr("environment changed: nvrtc 13.0.88 -> 13.1.20"));
}

TEST_F(GateCommand, AnotherAllocationIsARegression) {
  measured_anew(toy::dry(), "optimized", "peak_bytes", toy::exact(1177856 + 4096));
  expect_output(check(), 1, HasSubstr("rose from 1.178 MB to 1.182 MB"));
}

TEST_F(GateCommand, ATerminalHasColorsUnlessNoColorIsSet) {
  measured_anew(toy::dry(), "optimized", "launches", toy::exact(5));
  const std::vector<std::string> command = toy::joined({"check", results_.string()}, stores());
  EXPECT_THAT(toy::on_a_terminal(command, ""), HasSubstr("\033[1;31mREGRESSION"));
  EXPECT_THAT(toy::on_a_terminal(command, "1"),
              AllOf(HasSubstr("REGRESSION"), Not(HasSubstr("\033["))));
  EXPECT_THAT(
      toy::on_a_terminal(toy::joined(command, std::vector<std::string>{"--color=always"}), "1"),
      HasSubstr("\033[1;31mREGRESSION"));
}

TEST_F(GateCommand, ColorsAreWhatTheOptionSays) {
  measured_anew(toy::dry(), "optimized", "launches", toy::exact(5));
  expect_output(check(), 1, testing::Not(HasSubstr("\033[")));  // into a pipe
  expect_output(check({"--color=always"}), 1, HasSubstr("\033[1;31mREGRESSION"));
  expect_output(check({"--color=always", "--quiet"}), 1, HasSubstr("\033[1;31mREGRESSION"));
  expect_complaint(check({"--color=red"}), 2, HasSubstr("--color=red: give auto, always or never"));
}

TEST_F(GateCommand, AYardstickMustNotImproveEither) {
  measured_anew(toy::dry(), "reference", "launches", toy::exact(887));
  expect_output(check(), 1, HasSubstr("a yardstick must not change"));
}

TEST_F(GateCommand, AHalvedSpeedupIsARegression) {
  measured_anew(toy::host(), [](Results& now) {
    toy::metric(now, "case", "speedup") = toy::timed("ratio", 5);
    toy::metric(now, "optimized", "time_s") = toy::timed("time", 1.2e-3);
  });
  expect_output(check(), 1,
                AllOf(HasSubstr("speedup       fell from 10 to 5 (-50 %), the limit is"),
                      HasSubstr("reference time +0 % -> not the machine")));
}

TEST_F(GateCommand, WhatIsLittleBeyondTheLimitIsUndecided) {
  measured_anew(toy::host(), "case", "speedup", toy::timed("ratio", 9.3));
  expect_output(check(), 4, HasSubstr("NOISY"));
  EXPECT_EQ(check({"--undecided=warn"}), 0);
}

TEST_F(GateCommand, AWrongResultIsWrongWhateverItsSpeed) {
  measured_anew(toy::host(), [](Results& now) {
    now.cases.front().status = "failed";
    now.cases.front().check = {
        .status = "failed", .error = 3e-3, .limit = 1e-12, .oracle = "golden"};
  });
  expect_output(
      check(), 1,
      AllOf(HasSubstr("WRONG"), HasSubstr("is 0.003 and may be at most 1e-12 (oracle: golden)")));
}

TEST_F(GateCommand, ACrashedCaseIsIncomplete) {
  measured_anew(toy::host(), [](Results& now) {
    now.cases.front() = {
        .id = toy::step_id, .tier = "gate", .status = "crashed", .reason = "killed by signal 11"};
  });
  expect_output(check(), 3, AllOf(HasSubstr("MISSING"), HasSubstr("crashed: killed by signal 11")));
}

TEST_F(GateCommand, AMissingCaseIsIncomplete) {
  measured_anew(toy::dry(), [](Results& now) { now.cases.pop_back(); });
  expect_output(check(), 3, HasSubstr("toy/sum/n:64/f64"));
}

TEST_F(GateCommand, AMissingMetricIsIncomplete) {
  measured_anew(toy::dry(), [](Results& now) {
    now.cases.front().variants["optimized"].metrics.erase("launches");
  });
  expect_output(check(), 3, HasSubstr("launches      is listed and was not measured"));
}

TEST_F(GateCommand, AFilteredRunIsJudgedOnWhatItHoldsAndNotAccepted) {
  measured_anew(toy::dry(), [](Results& now) {
    now.cases.pop_back();
    now.partial = true;
  });
  expect_output(check(), 0, HasSubstr("not checked: toy on cuda-dry-sm_90: a filtered run"));
  expect_complaint(accept(), 3, HasSubstr("the run was filtered"));
}

TEST_F(GateCommand, AnImprovementNeverFails) {
  measured_anew(toy::dry(), "optimized", "launches", toy::exact(3));
  expect_output(check(), 0, AllOf(HasSubstr("IMPROVED"), HasSubstr("fell from 4 to 3")));
}

TEST_F(GateCommand, WithoutABaselineEverythingIsNewAndSaysSoLoudly) {
  store(toy::dry());
  expect_output(check(), 0,
                AllOf(HasSubstr("NO BASELINE for toy on cuda-dry-sm_90"), HasSubstr("16 NEW")));
  EXPECT_EQ(check({"--require-baseline"}), 3);
}

TEST_F(GateCommand, ABoundHoldsWithoutABaseline) {
  store(toy::dry(), "optimized", "launches", toy::exact(65));
  expect_output(check(), 1, HasSubstr("is 65, above the bound of 64 (a toy's bound)"));
}

TEST_F(GateCommand, AnEntryThatIsMissingFromABaselineIsIncomplete) {
  accepted(toy::dry());
  Baseline kept = read_baseline(baseline(toy::dry()));
  kept.entries.erase("toy/step/n:64/f64|optimized|launches");
  write_file(baseline(toy::dry()), baseline_text(kept));
  expect_output(check(), 3, HasSubstr("is 4 and has no entry in"));
}

TEST_F(GateCommand, AWaiverLetsARegressionPassWithItsReason) {
  accepted(toy::dry());
  spoil(
      common_policy_, "\"waivers\": []",
      R"("waivers": [{"match": "toy/**", "metric": "launches", "until": "9999-12-31", "why": "known"}])");
  store(toy::dry(), "optimized", "launches", toy::exact(5));
  expect_output(check(), 0,
                AllOf(HasSubstr("WAIVED"), HasSubstr("waived until 9999-12-31: known")));
}

TEST_F(GateCommand, AMachineWithoutTheDeviceIsToldApart) {
  Results nothing = toy::empty_results("cuda", "cuda");
  nothing.status = "no_device";
  nothing.reason = "no driver";
  store(nothing);
  expect_output(check({"--only=toy", "--device=cuda"}), 77,
                HasSubstr("not checked: toy on cuda: no such device (no driver)"));
  expect_output(check({"--expect=toy:cuda"}), 3, HasSubstr("the machine had no such device"));
  accepted(toy::dry());
  expect_output(check(), 0, HasSubstr("exit 0 (passed; toy on cuda not measured here)"));
}

TEST_F(GateCommand, APartAloneWritesNoVerdict) {
  accepted(toy::dry());
  EXPECT_EQ(check({"--only=toy", "--device=cuda-dry:sm_90"}), 0);
  EXPECT_FALSE(std::filesystem::exists(results_ / "verdict.json"));
}

TEST_F(GateCommand, AcceptingTwiceChangesNothing) {
  store(toy::host());
  ASSERT_EQ(accept(), 0) << complaints_;
  const std::string first = read_file(baseline(toy::host()));
  ASSERT_EQ(accept(), 0);
  EXPECT_EQ(read_file(baseline(toy::host())), first);
  EXPECT_THAT(output_, HasSubstr("nothing to change"));
}

TEST_F(GateCommand, AWorseningNeedsAReasonAndKeepsThePreviousValue) {
  measured_anew(toy::dry(), "optimized", "launches", toy::exact(5));
  const std::string before = read_file(baseline(toy::dry()));
  EXPECT_EQ(accept(), 2);
  EXPECT_EQ(read_file(baseline(toy::dry())), before);
  EXPECT_EQ(accept({"--why=one more stage"}), 0) << complaints_;
  const Entry entry =
      read_baseline(baseline(toy::dry())).entries.at("toy/step/n:64/f64|optimized|launches");
  EXPECT_EQ(entry.accepted.why, "one more stage");
  EXPECT_EQ(entry.accepted.previous, Value(4.0));
  EXPECT_EQ(check(), 0) << output_;
}

TEST_F(GateCommand, AnAcceptThatMayNotWriteItsFileToTheEndSaysSoAndLeavesTheOldOne) {
  measured_anew(toy::dry(), "optimized", "launches", toy::exact(5));
  const std::string before = read_file(baseline(toy::dry()));
  // No file may grow past one block, which ends in the middle of the new baseline.
  const Outcome outcome =
      run_task({.program = "/bin/sh",
                .arguments = {"-c", "ulimit -f 1; exec \"$0\" \"$@\"", HOLDFAST_BINARY, "baseline",
                              "accept", results_.string(), "--baselines=" + baselines_.string(),
                              "--lists=" + lists_.string(), "--why=one more stage"}});
  gate::expect_complaint(outcome, 2, HasSubstr("File too large"));
  EXPECT_EQ(read_file(baseline(toy::dry())), before);
  EXPECT_EQ(check(), 1);
  EXPECT_EQ(accept({"--why=one more stage"}), 0) << complaints_;
  EXPECT_EQ(check(), 0) << output_;
}

TEST_F(GateCommand, AGpusPartIsExcusedOnlyWhereThereIsNoGpu) {
  store(toy::dry());
  const int code = check({"--only=toy", "--device=cuda"});
  EXPECT_EQ(code, ask_gpu_driver().problem.empty() ? 3 : 77);
  EXPECT_EQ(check({"--only=toy", "--device=host"}), 3);
}

TEST_F(GateCommand, TheProposedPatchAppliesAndThenTheGatePasses) {
  git({"init", "--quiet"});
  measured_anew(toy::dry(), "optimized", "launches", toy::exact(5));
  ASSERT_EQ(check(), 1);
  git({"apply", (results_ / "proposed-baseline.patch").string()});
  EXPECT_EQ(check(), 0) << output_;
}

TEST_F(GateCommand, TheProposedPatchExcusesNothingUntilItSaysWhy) {
  measured_anew(toy::dry(), "optimized", "launches", toy::exact(5));
  commit_baselines();
  ASSERT_EQ(check({"--baseline-ref=HEAD"}), 1);
  git({"apply", (results_ / "proposed-baseline.patch").string()});
  expect_output(check({"--baseline-ref=HEAD"}), 1,
                AllOf(HasSubstr("LOOSENED"), HasSubstr("and gives no reason of its own"),
                      HasSubstr("accepted value of launches, for toy/step/n:64/f64 optimized")));
  spoil(baseline(toy::dry()), "proposed by holdfast check; say why", "one more stage");
  expect_output(
      check({"--baseline-ref=HEAD"}), 0,
      AllOf(HasSubstr("ACCEPTED"), HasSubstr("accepted with this change: one more stage")));
}

TEST_F(GateCommand, AChangeThatCarriesItsBaselineIsAccepted) {
  measured_anew(toy::dry(), "optimized", "launches", toy::exact(5));
  commit_baselines();
  EXPECT_EQ(check({"--baseline-ref=HEAD"}), 1);
  ASSERT_EQ(accept({"--why=one more stage"}), 0) << complaints_;
  expect_output(
      check({"--baseline-ref=HEAD"}), 0,
      AllOf(HasSubstr("ACCEPTED"), HasSubstr("accepted with this change: one more stage")));
  EXPECT_EQ(check({"--baseline-ref=no-such-branch"}), 2);
}

TEST_F(GateCommand, ABaselineRefThatGitWouldTakeForAnOptionIsRefused) {
  accepted(toy::dry());
  commit_baselines();
  for (const char* reference : {"--octopus", "-a"}) {
    expect_complaint(check({text("--baseline-ref=", reference)}), 2,
                     AllOf(StartsWith("holdfast: "), HasSubstr("--baseline-ref"),
                           EndsWith("a branch or a commit\n")));
    EXPECT_EQ(std::count(complaints_.begin(), complaints_.end(), '\n'), 1) << complaints_;
  }
}

TEST_F(GateCommand, CommandsForAFolderWithASpaceCanBeTyped) {
  measured_anew(toy::dry(), "optimized", "launches", toy::exact(5));
  const std::filesystem::path root = folder_.path() / "my results";
  std::filesystem::rename(results_, root);
  const auto check_it = [&] { return holdfast(toy::joined({"check", root.string()}, stores())); };
  expect_output(
      check_it(), 1,
      AllOf(HasSubstr("proposed: git apply '" + root.string() + "/proposed-baseline.patch'"),
            HasSubstr(" '" + root.string() + "' --device=cuda-dry:sm_90")));
  spoil(root / "cuda-dry-sm_90" / "toy.json", toy::dry().list_hash, "sha256:a1");
  const std::string again = " --out='" + root.string() + "'";
  expect_complaint(check_it(), 3, HasSubstr(again));
  std::filesystem::remove_all(root);
  expect_complaint(check_it(), 2, HasSubstr(again));
}

TEST_F(GateCommand, ABaselineThatIsGoneFromAFolderWithASpaceIsBroughtBackAsTyped) {
  accepted(toy::dry());
  accepted(toy::host());
  const std::filesystem::path moved = folder_.path() / "my baselines";
  std::filesystem::rename(baselines_, moved);
  git({"init", "--quiet", "-b", "main"});
  git({"add", "."});
  const std::filesystem::path gone = moved / "devices" / "cuda-dry-sm_90" / "toy.json";
  std::filesystem::remove(gone);
  const auto check_it = [&] {
    return holdfast({"check", results_.string(), "--baselines=" + moved.string(),
                     "--lists=" + lists_.string()});
  };
  const std::string restore = "git restore '" + gone.string() + "'";
  expect_output(check_it(), 3, HasSubstr(restore));
  std::filesystem::remove_all(results_ / "cuda-dry-sm_90");
  expect_output(check_it(), 3, HasSubstr(restore));
}

TEST_F(GateCommand, TheVerdictIsWrittenForPeopleAndForMachines) {
  measured_anew(toy::dry(), "optimized", "launches", toy::exact(5));
  EXPECT_EQ(check(), 1);
  EXPECT_EQ(verdict().exit, 1);
  EXPECT_EQ(verdict().counts.at("REGRESSION"), 1);
  EXPECT_THAT(read_file(results_ / "verdict.md"), HasSubstr("rose from 4 to 5"));
  EXPECT_THAT(read_file(results_ / "verdict.xml"), HasSubstr("failures=\"1\""));
}

TEST_F(GateCommand, ASuspiciouslyFastResultFails) {
  store(toy::host(), "optimized", "floor_fraction", {.kind = "advisory", .value = 1.5});
  expect_output(check(), 1, AllOf(HasSubstr("SUSPECT-FAST"), HasSubstr("is 1.5, above 1.1")));
}

TEST_F(GateCommand, AViolatedBoundTellsTheAcceptedValueAsWell) {
  measured_anew(toy::dry(), "optimized", "launches", toy::exact(65));
  expect_output(check(), 1,
                HasSubstr("is 65, above the bound of 64 (a toy's bound); the accepted value "
                          "is 4 (+1.52e+03 %)"));
  EXPECT_EQ(verdict().rows.front().baseline, Value(4.0));
}

TEST_F(GateCommand, WhatIsTheSameForManyCasesIsToldOnce) {
  measured_anew(toy::host(), [](Results& now) {
    for (CaseResult& result : now.cases)
      result = {.id = result.id, .tier = "gate", .status = "crashed", .reason = "it fell"};
  });
  expect_output(check(), 3, AllOf(HasSubstr("toy/step/n:64/f64"), HasSubstr("toy/sum/n:64/f64")));
  EXPECT_EQ(output_.find("it fell"), output_.rfind("it fell"));
}

TEST_F(GateCommand, DiffTellsTimesWithTheirUnit) {
  store(toy::host());
  expect_output(holdfast({"diff", results_.string(), results_.string()}), 0,
                HasSubstr("optimized  time_s  600 us -> 600 us  +0 %"));
}

TEST_F(GateCommand, DiffTellsOfACaseOnOneSideAlone) {
  store(toy::host());
  const std::filesystem::path before = folder_.path() / "before";
  std::filesystem::rename(results_, before);
  store(toy::host(), [](Results& now) { now.cases.pop_back(); });
  expect_output(holdfast({"diff", before.string(), results_.string()}), 1,
                HasSubstr("1 common case, counts and code are equal; 1 case on one side alone\n"));
}

TEST_F(GateCommand, DiffColorsWhatMustAgreeAndQuietTellsThatAlone) {
  store(toy::host());
  const std::filesystem::path before = folder_.path() / "before";
  std::filesystem::rename(results_, before);
  store(toy::host(), "optimized", "peak_bytes", toy::exact(5));
  const std::vector<std::string> diff = {"diff", before.string(), results_.string()};
  expect_output(
      holdfast(toy::joined(diff, std::vector<std::string>{"--color=always"})), 1,
      AllOf(HasSubstr("  \033[1;31mdiffers  \033[0mtoy/step/n:64/f64"), HasSubstr("time_s")));
  expect_output(holdfast(toy::joined(diff, std::vector<std::string>{"--quiet"})), 1,
                AllOf(HasSubstr("  differs  toy/step/n:64/f64"), Not(HasSubstr("time_s"))));
}

TEST_F(GateCommand, AcceptTellsEachChangeAndQuietlyHowManyThereAre) {
  const auto accepted_anew = [&](const std::vector<std::string>& options) {
    measured_anew(toy::dry(), "optimized", "launches", toy::exact(3));
    return accept(toy::joined({"--why=fewer"}, options));
  };
  const std::string file = baseline(toy::dry()).string();
  expect_output(accepted_anew({"--quiet"}), 0, StartsWith(file + ": 1 of "));
  EXPECT_THAT(output_, EndsWith(" changed\n"));
  EXPECT_THAT(output_, Not(HasSubstr("launches")));
  EXPECT_EQ(std::filesystem::remove(baseline(toy::dry())), true);
  expect_output(accepted_anew({}), 0, HasSubstr("launches"));
}

TEST_F(GateCommand, ExplainQuietlyTellsCauseAndCommandAlone) {
  measured_anew(toy::dry(), "optimized", "launches", toy::exact(5));
  const std::vector<std::string> explain =
      toy::joined({"explain", toy::step_id, results_.string()}, stores());
  expect_output(holdfast(toy::joined(explain, std::vector<std::string>{"--color=always"})), 0,
                AllOf(HasSubstr("\n1 "), HasSubstr("\033[33mcause          \033[0m")));
  expect_output(holdfast(toy::joined(explain, std::vector<std::string>{"--quiet"})), 0,
                AllOf(Not(HasSubstr("\n1 ")), HasSubstr("\ncause          "), HasSubstr("next ")));
}

TEST_F(GateCommand, HeadlineNumbersReachCTest) {
  accepted(toy::host());
  expect_output(check({"--ctest"}), 0,
                AllOf(HasSubstr("<CTestMeasurement type=\"numeric/double\" name=\"PASS\">"),
                      HasSubstr("name=\"toy/step/n:64/f64 speedup\">10</CTestMeasurement>")));
}

TEST_F(GateCommand, HeadlineNumbersReachCTestWithAllTheirDigits) {
  store(toy::dry(), "optimized", "peak_bytes", toy::exact(1177857));
  expect_output(check({"--ctest"}), 0,
                HasSubstr("name=\"toy/step/n:64/f64 peak_bytes\">1177857</CTestMeasurement>"));
}

}  // namespace
}  // namespace holdfast::gate
