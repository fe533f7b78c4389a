// SPDX-License-Identifier: Apache-2.0
// The real `holdfast check` on values that are blank, lost, of another content, or compared with
// nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gate/testing/gate_command.hpp"

namespace holdfast::gate {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class Unheld : public GateCommand {
 protected:
  void track() {
    git({"init", "--quiet"});
    git({"add", "--all", "baselines"});
  }
};

constexpr const char* no_permission = "CUPTI may not profile";

TEST_F(Unheld, AnAcceptedMetricThatIsBlankIsMissingWithItsReason) {
  measured_anew(toy::dry(), "optimized", "registers_max",
                Metric{.kind = "codegen", .reason = no_permission});
  expect_output(check(), 3,
                AllOf(HasSubstr("MISSING"), HasSubstr("has an accepted value, 40"),
                      HasSubstr(no_permission)));
}

// A reading that no case declares is advisory: one line less in a suite ends its gate.
TEST_F(Unheld, AnAcceptedMetricThatNoCaseDeclaresIsMissingThoughItIsMeasured) {
  accepted(toy::dry());
  Results now = toy::dry();
  for (CaseResult& result : now.cases)
    for (auto& [name, variant] : result.variants)
      variant.metrics["peak_bytes"] = {.kind = "advisory", .value = 9e9};
  List listed = toy::list();
  listed.metrics.erase("peak_bytes");
  for (ListedCase& one : listed.cases)
    for (auto& [kind, metrics] : one.devices) std::erase(metrics, "peak_bytes");
  store_as_listed(now, listed);
  expect_output(check(), 3,
                HasSubstr("peak_bytes    has an accepted value, 1.178 MB, and its suite "
                          "does not declare the metric any more"));
}

TEST_F(Unheld, ABoundedMetricThatIsBlankIsMissingWithoutABaseline) {
  store(toy::dry(), "optimized", "launches", {.kind = "exact", .reason = no_permission});
  expect_output(check(), 3, HasSubstr("has a bound and was not measured"));
}

TEST_F(Unheld, AListedMetricThatIsBlankIsMissingWithoutABaseline) {
  store(toy::dry(), "optimized", "peak_bytes", {.kind = "exact", .reason = no_permission});
  expect_output(check(), 3, HasSubstr("is listed and was not measured"));
}

TEST_F(Unheld, WhatThePolicyKnowsMayBeAbsentIsSkippedForThatReasonAlone) {
  Results now = toy::dry();
  toy::metric(now, "optimized", "peak_bytes") = {.kind = "exact", .reason = no_permission};
  store(now);
  spoil(common_policy_, R"("rules": [)",
        R"("absent": [{"metric": "peak_*", "device": "cuda-dry-*", "reason": "CUPTI may not",
                       "why": "the driver decides"}], "rules": [)");
  expect_output(check(), 0, AllOf(HasSubstr("SKIPPED"), HasSubstr(no_permission)));
  EXPECT_THAT(output_, HasSubstr("(passed; 16 of 16 values not gated here)"));
  toy::metric(now, "optimized", "peak_bytes") = {.kind = "exact", .reason = "no time"};
  store(now);
  EXPECT_EQ(check(), 3);
}

TEST_F(Unheld, ACaseThatWasSkippedIsMissing) {
  store(toy::dry(), [](Results& now) {
    now.cases.front() = {
        .id = toy::step_id, .tier = "gate", .status = "skipped", .reason = "not today"};
  });
  expect_output(check(), 3, HasSubstr("is listed and was skipped: not today"));
}

TEST_F(Unheld, ABaselineThatIsDeletedIsMissingAndNotBegunAnew) {
  accepted(toy::dry());
  track();
  fs::remove(baseline(toy::dry()));
  expect_output(
      check(), 3,
      AllOf(HasSubstr("MISSING"), HasSubstr("git's index has it"), Not(HasSubstr("NO BASELINE"))));
  EXPECT_FALSE(fs::exists(results_ / "proposed-baseline.patch"));
  expect_complaint(accept(), 3, HasSubstr("toy.json: git's index has the file"));
  EXPECT_FALSE(fs::exists(baseline(toy::dry())));
}

TEST_F(Unheld, ABaselineOfAnotherClassThatIsDeletedIsMissingToo) {
  accepted(toy::host());
  accepted(toy::dry());
  track();
  fs::remove(baseline(toy::host()));
  fs::remove(result_path(toy::host()));
  expect_output(check(), 3, HasSubstr("MISSING     toy  host-x86_64-v4-2t"));
}

TEST_F(Unheld, ABaselineThatTheMergeBaseHasIsMissingWhereTheChangeTakesItOut) {
  accepted(toy::dry());
  track();
  git({"commit", "--quiet", "--message=base"});
  fs::remove(baseline(toy::dry()));
  git({"add", "--all", "baselines"});
  expect_output(check({"--baseline-ref=HEAD"}), 3, HasSubstr("the merge base has it"));
}

TEST_F(Unheld, ABaselineUnderANameOfOtherCaseIsMissing) {
  accepted(toy::dry());
  fs::rename(baseline(toy::dry()), baseline(toy::dry()).parent_path() / "Toy.json");
  expect_output(check(), 3, HasSubstr("devices/cuda-dry-sm_90/Toy.json is"));
}

TEST_F(Unheld, ALinkToNothingIsNoAbsentBaseline) {
  accepted(toy::dry());
  fs::remove(baseline(toy::dry()));
  fs::create_symlink("nowhere.json", baseline(toy::dry()));
  expect_output(check(), 3, HasSubstr("is a link to nothing"));
}

TEST_F(Unheld, APolicyFileThatIsDeletedIsIncomplete) {
  accepted(toy::dry());
  write_file(baselines_ / "policy" / "toy.json",
             R"({"schema": "holdfast-policy/1", "rules": [], "waivers": []})");
  track();
  fs::remove(baselines_ / "policy" / "toy.json");
  expect_complaint(check(), 3, HasSubstr("git's index has the file"));
  expect_complaint(accept(), 3, HasSubstr("git's index has the file"));
}

TEST_F(Unheld, WhatIsHeldAgainstNothingPassesInAmberAndNotWell) {
  store(toy::dry());
  expect_output(
      check(), 0,
      AllOf(HasSubstr("(passed; 16 of 16 values not gated here)"), Not(HasSubstr("(well)"))));
  EXPECT_THAT(read_file(results_ / "verdict.md"), HasSubstr("passed; 16 of 16 values"));
  EXPECT_THAT(verdict().caveats, testing::ElementsAre("16 of 16 values not gated here"));
}

TEST_F(Unheld, TimesOfAnotherProcessorAreToldAsNotGated) {
  measured_anew(toy::host(), [](Results& now) { now.env.processor = "GenuineIntel-6-85"; });
  expect_output(check(), 0, HasSubstr("(passed; 6 of 6 times and ratios not gated here)"));
}

TEST_F(Unheld, WhatIsUndecidedPassesInAmberAndNotWell) {
  measured_anew(toy::host(), "case", "speedup",
                Metric{.kind = "ratio", .processes = {5, 5, 5}, .median = 5, .mad_between = 0});
  expect_output(
      check({"--undecided=warn"}), 0,
      AllOf(HasSubstr("1 of 6 times and ratios not gated here"), Not(HasSubstr("(well)"))));
}

TEST_F(Unheld, ABoundThatProcessesDisputePassesInAmberAndNotWell) {
  List listed = toy::list();
  listed.cases.front().devices["host"].push_back("floor_fraction");
  const auto floor_fractions = [&](const std::vector<double>& values) {
    Results now = toy::host();
    toy::metric(now, "optimized", "floor_fraction") = {
        .kind = "advisory", .processes = values, .median = 0.5};
    store_as_listed(now, listed);
  };
  spoil(common_policy_, R"("rules": [)",
        R"("rules": [{"match": "toy/step/**", "metric": "floor_fraction", "variant": "optimized",
                      "bound": {"min": 0.4, "source": "a toy's"}}, )");
  floor_fractions({0.5, 0.5, 0.5, 0.5, 0.5});
  ASSERT_EQ(accept(), 0) << complaints_;
  expect_output(check(), 0, HasSubstr("(well)"));
  floor_fractions({0.3, 0.3, 0.5, 0.5, 0.5});
  expect_output(
      check({"--undecided=warn"}), 0,
      AllOf(HasSubstr("(passed; 1 of 11 values not gated here)"), Not(HasSubstr("(well)"))));
}

TEST_F(Unheld, WhereNothingGatesNothingIsWell) {
  List listed = toy::list();
  for (ListedCase& one : listed.cases) one.devices.erase("cuda-dry");
  spoil(common_policy_, R"("rules": [)", R"("rules": [], "removed": [)");
  spoil(common_policy_, R"(, "bound": {"max": 64, "source": "a toy's bound"})",
        R"(, "device": "cuda-dry-*", "why": "no device does it any more")");
  Results now = toy::dry();
  now.cases.clear();
  store_as_listed(now, listed);
  expect_output(check(), 0, HasSubstr("(passed; nothing that gates was measured)"));
}

TEST_F(Unheld, ABoundOnAVariantThatHasNoSuchMetricHoldsForNothing) {
  accepted(toy::dry());
  expect_output(check(), 0, Not(HasSubstr("holds for nothing")));
  spoil(common_policy_, R"("variant": "optimized", "metric": "launches", "bound": {"max": 64)",
        R"("variant": "case", "metric": "launches", "bound": {"max": 1)");
  expect_output(check(), 3,
                AllOf(HasSubstr("launches      has a bound and was not measured"),
                      HasSubstr("common.json:10: holds for nothing on cuda-dry-sm_90, where the "
                                "variant case of toy/step/** has no launches")));
}

TEST_F(Unheld, AnAcceptedValueThatMayBeAbsentPassesInAmberAndNotWell) {
  measured_anew(toy::dry(), "optimized", "registers_max",
                Metric{.kind = "codegen", .reason = no_permission});
  const std::string told = "(passed; 1 of 16 values not gated here)";
  const std::string rules = R"("rules": [)", waivers = R"("waivers": [])";
  const std::string absent = R"("absent": [{"metric": "registers_max", "device": "cuda-dry-*",
      "reason": "CUPTI may not", "why": "the driver decides"}], "rules": [)";
  spoil(common_policy_, rules, absent);
  expect_output(check(), 0, AllOf(HasSubstr("SKIPPED"), HasSubstr(told)));
  spoil(common_policy_, absent, rules);
  spoil(common_policy_, waivers, R"("waivers": [{"match": "toy/step/**", "metric": "registers_max",
      "variant": "optimized", "until": "2999-12-31", "why": "a new driver comes"}])");
  expect_output(check(), 0, AllOf(HasSubstr("WAIVED"), HasSubstr(told)));
}

TEST_F(Unheld, WhatOtherToolsExcusePassesInAmberAndNotWell) {
  measured_anew(toy::dry(), [](Results& now) {
    now.env.nvrtc = "13.1";
    toy::metric(now, "optimized", "registers_max") = toy::codegen(90);
  });
  expect_output(check(), 0, HasSubstr("(passed; 1 of 16 values not gated here)"));
}

TEST_F(Unheld, ResultsOfAnotherContentAreIncomplete) {
  measured_anew(toy::dry(), [](Results& now) { now.run.content = "sha256:c1"; });
  expect_complaint(
      check(), 3,
      AllOf(HasSubstr("sha256:c1"), HasSubstr("sha256:c0"), HasSubstr("--any-content")));
  expect_output(check({"--any-content"}), 0,
                HasSubstr("(passed; of another content than the build)"));
}

TEST_F(Unheld, DeviceCodeFromElsewhereIsNotWell) {
  measured_anew(toy::dry(), [](Results& now) { now.run.sources = "/a/kernel/being/written"; });
  expect_output(check(), 0, HasSubstr("(passed; of device code that is not the build's)"));
}

TEST_F(Unheld, ABuildThatDoesNotTellItsContentJudgesNothing) {
  accepted(toy::dry());
  fs::remove(lists_ / "content.json");
  expect_complaint(check(), 3, HasSubstr("nothing tells which content"));
}

TEST_F(Unheld, TheLimitOfAResultIsTheListsAndNotItsOwn) {
  measured_anew(toy::host(), [](Results& now) {
    now.cases.front().check.error = 1e8;
    now.cases.front().check.limit = 1e9;
  });
  expect_complaint(
      check(), 3,
      AllOf(HasSubstr("was checked with the limit 1000000000,"), HasSubstr("says 1e-12")));
}

TEST_F(Unheld, ASuiteThatNobodyMeasuredIsNotChecked) {
  accepted(toy::dry());
  expect_output(check(), 0, HasSubstr("not checked: toy on host: there are no results of it"));
}

TEST_F(Unheld, AFilteredRunIsNotWell) {
  measured_anew(toy::dry(), [](Results& now) {
    now.cases.pop_back();
    now.partial = true;
  });
  expect_output(check(), 0, HasSubstr("(passed; not all of the gate tier was measured)"));
}

TEST_F(Unheld, ASmokeRunSaysWhatItLeavesOut) {
  measured_anew(toy::dry(), [](Results& now) { now.tier = "smoke"; });
  expect_output(check(), 0,
                HasSubstr("not checked: toy on cuda-dry:sm_90: the rest of the gate tier"));
}

}  // namespace
}  // namespace holdfast::gate
