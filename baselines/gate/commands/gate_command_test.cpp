// SPDX-License-Identifier: Apache-2.0
// The real `holdfast` on results that are whole: what it says, and with which exit code.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gate/measure/gpu_driver.hpp"
#include "gate/testing/gate_command.hpp"

namespace holdfast::gate {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST_F(GateCommand, TheSameMeasurementPasses) {
  accepted(toy::dry());
  EXPECT_EQ(check(), 0) << output_;
  EXPECT_THAT(output_, HasSubstr("16 PASS -> exit 0 (well)"));
  EXPECT_FALSE(std::filesystem::exists(results_ / "proposed-baseline.patch"));
}

TEST_F(GateCommand, OneMoreLaunchIsARegressionWithBothNumbers) {
  accepted(toy::dry());
  Results now = toy::dry();
  toy::metric(now, "optimized", "launches") = toy::exact(5);
  store(now);
  EXPECT_EQ(check(), 1);
  EXPECT_THAT(
      output_,
      AllOf(HasSubstr("REGRESSION  toy/step/n:64/f64  cuda-dry-sm_90  optimized  (blocking)"),
            HasSubstr("launches      rose from 4 to 5 (+25 %), the limit is +0 %"),
            HasSubstr("all 2 kernels identical"), HasSubstr("holdfast baseline accept")));
  EXPECT_EQ(verdict().rows.front().sentence.substr(0, 48),
            "toy/step/n:64/f64 optimized on cuda-dry-sm_90: l");
}

TEST_F(GateCommand, SixteenMoreRegistersNameTheKernel) {
  accepted(toy::dry());
  Results now = toy::dry();
  toy::metric(now, "optimized", "registers_max") = toy::codegen(56);
  now.cases.front().variants["optimized"].kernels.front().registers = 56;
  now.cases.front().variants["optimized"].kernels.front().cubin = "sha256:3c";
  store(now);
  EXPECT_EQ(check(), 1);
  EXPECT_THAT(
      output_,
      AllOf(HasSubstr("registers_max rose from 40 to 56 (+40 %)"),
            HasSubstr("stage: registers 40 -> 56, cubin changed; 1 other kernel identical")));
}

TEST_F(GateCommand, AnotherCompilerExcusesRegisters) {
  accepted(toy::dry());
  Results now = toy::dry();
  now.env.nvrtc = "13.1.20";
  toy::metric(now, "optimized", "registers_max") = toy::codegen(56);
  store(now);
  EXPECT_EQ(check(), 0);
  EXPECT_THAT(output_, HasSubstr("environment changed: nvrtc 13.0.88 -> 13.1.20"));
}

TEST_F(GateCommand, AnotherAllocationIsARegression) {
  accepted(toy::dry());
  Results now = toy::dry();
  toy::metric(now, "optimized", "peak_bytes") = toy::exact(1177856 + 4096);
  store(now);
  EXPECT_EQ(check(), 1);
  EXPECT_THAT(output_, HasSubstr("rose from 1177856 B to 1181952 B"));
}

TEST_F(GateCommand, AYardstickMustNotImproveEither) {
  accepted(toy::dry());
  Results now = toy::dry();
  toy::metric(now, "reference", "launches") = toy::exact(887);
  store(now);
  EXPECT_EQ(check(), 1);
  EXPECT_THAT(output_, HasSubstr("a yardstick must not change"));
}

TEST_F(GateCommand, AHalvedSpeedupIsARegression) {
  accepted(toy::host());
  Results now = toy::host();
  toy::metric(now, "case", "speedup") = toy::timed("ratio", 5);
  toy::metric(now, "optimized", "time_s") = toy::timed("time", 1.2e-3);
  store(now);
  EXPECT_EQ(check(), 1);
  EXPECT_THAT(output_, AllOf(HasSubstr("speedup       fell from 10 to 5 (-50 %), the limit is"),
                             HasSubstr("reference time +0 % -> not the machine")));
}

TEST_F(GateCommand, WhatIsLittleBeyondTheLimitIsUndecided) {
  accepted(toy::host());
  Results now = toy::host();
  toy::metric(now, "case", "speedup") = toy::timed("ratio", 9.3);
  store(now);
  EXPECT_EQ(check(), 4);
  EXPECT_THAT(output_, HasSubstr("NOISY"));
  EXPECT_EQ(check({"--undecided=warn"}), 0);
}

TEST_F(GateCommand, AWrongResultIsWrongWhateverItsSpeed) {
  accepted(toy::host());
  Results now = toy::host();
  now.cases.front().status = "failed";
  now.cases.front().check = {.status = "failed", .error = 3e-3, .limit = 1e-12, .oracle = "golden"};
  store(now);
  EXPECT_EQ(check(), 1);
  EXPECT_THAT(output_, AllOf(HasSubstr("WRONG"),
                             HasSubstr("is 0.003 and may be at most 1e-12 (oracle: golden)")));
}

TEST_F(GateCommand, ACrashedCaseIsIncomplete) {
  accepted(toy::host());
  Results now = toy::host();
  now.cases.front() = {
      .id = toy::step_id, .tier = "gate", .status = "crashed", .reason = "killed by signal 11"};
  store(now);
  EXPECT_EQ(check(), 3);
  EXPECT_THAT(output_, AllOf(HasSubstr("MISSING"), HasSubstr("crashed: killed by signal 11")));
}

TEST_F(GateCommand, AMissingCaseIsIncomplete) {
  accepted(toy::dry());
  Results now = toy::dry();
  now.cases.pop_back();
  store(now);
  EXPECT_EQ(check(), 3);
  EXPECT_THAT(output_, HasSubstr("toy/sum/n:64/f64"));
}

TEST_F(GateCommand, AMissingMetricIsIncomplete) {
  accepted(toy::dry());
  Results now = toy::dry();
  now.cases.front().variants["optimized"].metrics.erase("launches");
  store(now);
  EXPECT_EQ(check(), 3);
  EXPECT_THAT(output_, HasSubstr("launches      is listed and was not measured"));
}

TEST_F(GateCommand, AFilteredRunIsJudgedOnWhatItHoldsAndNotAccepted) {
  accepted(toy::dry());
  Results now = toy::dry();
  now.cases.pop_back();
  now.partial = true;
  store(now);
  EXPECT_EQ(check(), 0) << output_;
  EXPECT_THAT(output_, HasSubstr("not checked: toy on cuda-dry-sm_90: a filtered run"));
  EXPECT_EQ(accept(), 3);
  EXPECT_THAT(complaints_, HasSubstr("the run was filtered"));
}

TEST_F(GateCommand, AnImprovementNeverFails) {
  accepted(toy::dry());
  Results now = toy::dry();
  toy::metric(now, "optimized", "launches") = toy::exact(3);
  store(now);
  EXPECT_EQ(check(), 0);
  EXPECT_THAT(output_, AllOf(HasSubstr("IMPROVED"), HasSubstr("fell from 4 to 3")));
}

TEST_F(GateCommand, WithoutABaselineEverythingIsNewAndSaysSoLoudly) {
  store(toy::dry());
  EXPECT_EQ(check(), 0);
  EXPECT_THAT(output_,
              AllOf(HasSubstr("NO BASELINE for toy on cuda-dry-sm_90"), HasSubstr("16 NEW")));
  EXPECT_EQ(check({"--require-baseline"}), 3);
}

TEST_F(GateCommand, ABoundHoldsWithoutABaseline) {
  Results now = toy::dry();
  toy::metric(now, "optimized", "launches") = toy::exact(65);
  store(now);
  EXPECT_EQ(check(), 1);
  EXPECT_THAT(output_, HasSubstr("is 65, above the bound of 64 (a toy's bound)"));
}

TEST_F(GateCommand, AnEntryThatIsMissingFromABaselineIsIncomplete) {
  accepted(toy::dry());
  Baseline kept = read_baseline(baseline(toy::dry()));
  kept.entries.erase("toy/step/n:64/f64|optimized|launches");
  write_file(baseline(toy::dry()), baseline_text(kept));
  EXPECT_EQ(check(), 3);
  EXPECT_THAT(output_, HasSubstr("is 4 and has no entry in"));
}

TEST_F(GateCommand, AWaiverLetsARegressionPassWithItsReason) {
  accepted(toy::dry());
  spoil(
      common_policy_, "\"waivers\": []",
      R"("waivers": [{"match": "toy/**", "metric": "launches", "until": "9999-12-31", "why": "known"}])");
  Results now = toy::dry();
  toy::metric(now, "optimized", "launches") = toy::exact(5);
  store(now);
  EXPECT_EQ(check(), 0);
  EXPECT_THAT(output_, AllOf(HasSubstr("WAIVED"), HasSubstr("waived until 9999-12-31: known")));
}

TEST_F(GateCommand, AMachineWithoutTheDeviceIsToldApart) {
  Results nothing = toy::empty_results("cuda", "cuda");
  nothing.status = "no_device";
  nothing.reason = "no driver";
  store(nothing);
  EXPECT_EQ(check({"--only=toy", "--device=cuda"}), 77);
  EXPECT_THAT(output_, HasSubstr("not checked: toy on cuda: no such device (no driver)"));
  store(toy::dry());
  EXPECT_EQ(check(), 0) << "beside a part that was measured, it is only told";
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
  accepted(toy::dry());
  const std::string before = read_file(baseline(toy::dry()));
  Results now = toy::dry();
  now.run.id = "2026-11-22T12:00:00Z-0001";
  toy::metric(now, "optimized", "launches") = toy::exact(5);
  store(now);
  EXPECT_EQ(accept(), 2);
  EXPECT_EQ(read_file(baseline(toy::dry())), before);
  EXPECT_EQ(accept({"--why=one more stage"}), 0) << complaints_;
  const Entry entry =
      read_baseline(baseline(toy::dry())).entries.at("toy/step/n:64/f64|optimized|launches");
  EXPECT_EQ(entry.accepted.why, "one more stage");
  EXPECT_EQ(entry.accepted.previous, Value(4.0));
  EXPECT_EQ(check(), 0) << output_;
}

TEST_F(GateCommand, AnAcceptThatIsKilledWhileWritingLeavesTheOldBaseline) {
  accepted(toy::dry());
  const std::string before = read_file(baseline(toy::dry()));
  Results now = toy::dry();
  now.run.id = "2026-11-22T12:00:00Z-0001";
  toy::metric(now, "optimized", "launches") = toy::exact(5);
  store(now);
  // A file that may not grow past one block: the kernel kills the process in the middle of the new
  // baseline.
  const Outcome outcome =
      run_task({.program = "/bin/sh",
                .arguments = {"-c", "ulimit -f 1; exec \"$0\" \"$@\"", HOLDFAST_BINARY, "baseline",
                              "accept", results_.string(), "--baselines=" + baselines_.string(),
                              "--lists=" + lists_.string(), "--why=killed"}});
  EXPECT_EQ(outcome.ending, Ending::killed) << outcome.complaints;
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

TEST_F(GateCommand, AWrongResultIsNotAccepted) {
  Results now = toy::host();
  now.cases.front().check.status = "failed";
  store(now);
  EXPECT_EQ(accept({"--why=please"}), 1);
  EXPECT_THAT(complaints_, HasSubstr("the result is wrong"));
  EXPECT_FALSE(std::filesystem::exists(baseline(now)));
}

TEST_F(GateCommand, DeviceCodeFromElsewhereIsNotAccepted) {
  Results now = toy::dry();
  now.run.sources = "/somewhere";
  store(now);
  EXPECT_EQ(accept(), 3);
  EXPECT_THAT(complaints_, HasSubstr("HOLDFAST_SOURCES=/somewhere"));
}

TEST_F(GateCommand, FewerThanFiveProcessesNeedBootstrap) {
  Results now = toy::host();
  for (CaseResult& result : now.cases)
    result.metrics["speedup"] = {.kind = "ratio", .processes = {10}, .median = 10};
  store(now);
  EXPECT_EQ(accept(), 4);
  EXPECT_EQ(accept({"--bootstrap"}), 0) << complaints_;
}

TEST_F(GateCommand, TheProposedPatchAppliesAndThenTheGatePasses) {
  git({"init", "--quiet"});
  accepted(toy::dry());
  Results now = toy::dry();
  now.run.id = "2026-11-22T12:00:00Z-0001";
  toy::metric(now, "optimized", "launches") = toy::exact(5);
  store(now);
  ASSERT_EQ(check(), 1);
  git({"apply", (results_ / "proposed-baseline.patch").string()});
  EXPECT_EQ(check(), 0) << output_;
}

TEST_F(GateCommand, AChangeThatCarriesItsBaselineIsAccepted) {
  accepted(toy::dry());
  git({"init", "--quiet"});
  git({"add", "baselines"});
  git({"commit", "--quiet", "--message=base"});
  Results now = toy::dry();
  now.run.id = "2026-11-22T12:00:00Z-0001";
  toy::metric(now, "optimized", "launches") = toy::exact(5);
  store(now);
  EXPECT_EQ(check({"--baseline-ref=HEAD"}), 1);
  ASSERT_EQ(accept({"--why=one more stage"}), 0) << complaints_;
  EXPECT_EQ(check({"--baseline-ref=HEAD"}), 0) << output_;
  EXPECT_THAT(output_,
              AllOf(HasSubstr("ACCEPTED"), HasSubstr("accepted with this change: one more stage")));
  EXPECT_EQ(check({"--baseline-ref=no-such-branch"}), 2);
}

TEST_F(GateCommand, TheVerdictIsWrittenForPeopleAndForMachines) {
  accepted(toy::dry());
  Results now = toy::dry();
  toy::metric(now, "optimized", "launches") = toy::exact(5);
  store(now);
  EXPECT_EQ(check(), 1);
  EXPECT_EQ(verdict().exit, 1);
  EXPECT_EQ(verdict().counts.at("REGRESSION"), 1);
  EXPECT_THAT(read_file(results_ / "verdict.md"), HasSubstr("rose from 4 to 5"));
  EXPECT_THAT(read_file(results_ / "verdict.xml"), HasSubstr("failures=\"1\""));
}

TEST_F(GateCommand, ASuspiciouslyFastResultFails) {
  Results now = toy::host();
  toy::metric(now, "optimized", "floor_fraction") = {.kind = "advisory", .value = 1.5};
  store(now);
  EXPECT_EQ(check(), 1);
  EXPECT_THAT(output_, AllOf(HasSubstr("SUSPECT-FAST"), HasSubstr("is 1.5, above 1.1")));
}

TEST_F(GateCommand, AMetricThatTheDeviceCannotGiveIsSkipped) {
  accepted(toy::dry());
  Results now = toy::dry();
  toy::metric(now, "optimized", "registers_max") = {.kind = "codegen", .reason = "no permission"};
  store(now);
  EXPECT_EQ(check(), 0);
  EXPECT_THAT(output_, AllOf(HasSubstr("SKIPPED"), HasSubstr("is not available: no permission")));
}

TEST_F(GateCommand, AViolatedBoundTellsTheAcceptedValueAsWell) {
  accepted(toy::dry());
  Results now = toy::dry();
  toy::metric(now, "optimized", "launches") = toy::exact(65);
  store(now);
  EXPECT_EQ(check(), 1);
  EXPECT_THAT(output_, HasSubstr("is 65, above the bound of 64 (a toy's bound); the accepted value "
                                 "is 4 (+1.52e+03 %)"));
  EXPECT_EQ(verdict().rows.front().baseline, Value(4.0));
}

TEST_F(GateCommand, WhatIsTheSameForManyCasesIsToldOnce) {
  accepted(toy::host());
  Results now = toy::host();
  for (CaseResult& result : now.cases)
    result = {.id = result.id, .tier = "gate", .status = "crashed", .reason = "it fell"};
  store(now);
  EXPECT_EQ(check(), 3);
  EXPECT_THAT(output_, AllOf(HasSubstr("toy/step/n:64/f64"), HasSubstr("toy/sum/n:64/f64")));
  EXPECT_EQ(output_.find("it fell"), output_.rfind("it fell"));
}

TEST_F(GateCommand, DiffTellsTimesWithTheirUnit) {
  store(toy::host());
  EXPECT_EQ(holdfast({"diff", results_.string(), results_.string()}), 0);
  EXPECT_THAT(output_, HasSubstr("optimized  time_s  600 us -> 600 us  +0 %"));
}

TEST_F(GateCommand, HeadlineNumbersReachCTest) {
  accepted(toy::host());
  EXPECT_EQ(check({"--ctest"}), 0);
  EXPECT_THAT(output_,
              AllOf(HasSubstr("<CTestMeasurement type=\"numeric/double\" name=\"PASS\">"),
                    HasSubstr("name=\"toy/step/n:64/f64 speedup\">10</CTestMeasurement>")));
}

}  // namespace
}  // namespace holdfast::gate
