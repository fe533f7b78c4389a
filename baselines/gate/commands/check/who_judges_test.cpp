// SPDX-License-Identifier: Apache-2.0
// The real `holdfast check --baseline-ref`: a change is judged by the rules that it found, and its
// changes to them are reported.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gate/testing/who_judges.hpp"

namespace holdfast::gate {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST_F(WhoJudges, AnUnchangedMeasurementIsWellAndTellsNoChange) {
  expect_output(judge(), 0, AllOf(HasSubstr("(well)"), Not(HasSubstr("what this change does"))));
}

TEST_F(WhoJudges, AGateThatIsTurnedOffBesideARegressionBlocks) {
  policy(exact_kind, R"("exact": {"gate": "off", "tolerance": 0)");
  one_more_launch();
  expect_output(judge(), 1,
                AllOf(HasSubstr("rose from 4 to 5"), HasSubstr("gate of launches"),
                      HasSubstr("block -> off"), HasSubstr("LOOSENED")));
}

TEST_F(WhoJudges, AGateThatIsTurnedOffAloneBlocks) {
  policy(exact_kind, R"("exact": {"gate": "off", "tolerance": 0)");
  expect_output(judge(), 1, HasSubstr("LOOSENED: "));
}

TEST_F(WhoJudges, ALooseningWithItsReasonIsAcceptedAndShown) {
  policy(no_rules_yet,
         R"("rules": [{"match": "toy/step/**", "metric": "launches", "tolerance": 0.5,
                       "why": "the fifth launch reads back"},)");
  one_more_launch();
  expect_output(judge(), 0,
                AllOf(HasSubstr("ACCEPTED"), HasSubstr("the fifth launch reads back"),
                      HasSubstr("0 % -> 50 %")));
  ASSERT_FALSE(verdict().changes.empty());
  EXPECT_FALSE(verdict().changes.front().blocking);
}

TEST_F(WhoJudges, AnOldReasonExcusesNoNewLoosening) {
  policy(
      no_rules_yet,
      R"("rules": [{"match": "toy/step/**", "metric": "launches", "tolerance": 0.1, "why": "known"},)");
  begin();
  policy("0.1", "0.9");
  one_more_launch();
  EXPECT_EQ(judge(), 1);
  policy(R"("known")", R"("known\u00a0\u034f")");
  EXPECT_EQ(judge(), 1) << "what no reader tells apart is no other reason: " << output_;
  policy(R"("known\u00a0\u034f")", R"("measured anew")");
  EXPECT_EQ(judge(), 0) << output_;
}

TEST_F(WhoJudges, ABoundThatGoesBlocks) {
  policy(R"("bound": {"max": 64, "source": "a toy's bound"})",
         R"("bound": {"max": 640, "source": "a toy's bound"})");
  expect_output(judge(), 1,
                AllOf(HasSubstr("bound of launches"), HasSubstr("at most 64 -> at most 640")));
}

TEST_F(WhoJudges, ABoundIsToldInItsUnitAndApartFromTheOneBefore) {
  policy(no_rules_yet,
         R"("rules": [{"match": "toy/**", "metric": "peak_bytes",
                       "bound": {"max": 206569472, "source": "a formula"}},)");
  begin();
  policy("206569472", "406569472");
  expect_output(judge(), 1, HasSubstr("at most 206.6 MB -> at most 406.6 MB"));
  policy("406569472", "206569473");
  expect_output(judge(), 1, HasSubstr("at most 206.569472 MB -> at most 206.569473 MB"));
}

TEST_F(WhoJudges, ABoundOnASumIsToldInItsUnit) {
  policy(no_rules_yet,
         R"("rules": [{"match": "toy/**", "metric": "launches+peak_bytes",
                       "bound": {"max": 2000000, "source": "a sum's"}},)");
  begin();
  policy("2000000", "3000000");
  expect_output(
      judge(), 1,
      AllOf(HasSubstr("bound of launches+peak_bytes"), HasSubstr("at most 2 MB -> at most 3 MB")));
}

TEST_F(WhoJudges, ABoundOnASumHoldsWhereTheChangeTightensItAndWhereItTakesItOut) {
  const std::string at_most_100 =
      R"("rules": [{"match": "toy/step/**", "variant": "optimized",
                    "metric": "launches+registers_max",
                    "bound": {"max": 100, "source": "a sum's"}},)";
  policy(no_rules_yet, at_most_100);
  begin();
  EXPECT_EQ(judge(), 0) << output_;
  policy(R"({"max": 100,)", R"({"max": 43,)");
  EXPECT_EQ(judge(), 1) << "44, and at most 43 from now on";
  EXPECT_THAT(output_, HasSubstr("launches+registers_max"));
  begin();
  policy(R"({"max": 43,)", R"({"max": 100,)");
  EXPECT_EQ(judge(), 1) << "44, and at most 43 before";
  EXPECT_EQ(verdict().counts["REGRESSION"], 1) << output_;
}

TEST_F(WhoJudges, ABoundOnASumThatTheChangeTakesOutHoldsAndSaysSo) {
  const std::string at_most_43 =
      R"("rules": [{"match": "toy/step/**", "variant": "optimized",
                    "metric": "launches+registers_max",
                    "bound": {"max": 43, "source": "a sum's"}},)";
  policy(no_rules_yet, at_most_43);
  begin();
  policy(at_most_43, no_rules_yet);
  expect_output(judge(), 1,
                AllOf(HasSubstr("is 44, above the bound of 43 (a sum's)"),
                      HasSubstr("this change lets it pass, and gives no reason")));
}

TEST_F(WhoJudges, MoreSuspectsBeforeAllAreExcusedAreALoosening) {
  policy(no_rules_yet, R"("most_suspects": 20, "rules": [)");
  begin();
  policy(R"("most_suspects": 20)", R"("most_suspects": 30)");
  expect_output(judge(), 1, HasSubstr("LOOSENED  most_suspects: 20 -> 30"));
  begin();
  policy(R"("most_suspects": 30)", R"("most_suspects": 10)");
  EXPECT_EQ(judge(), 0) << output_;
}

TEST_F(WhoJudges, WhatTheRowOfAMetricAllowsIsToldInItsUnit) {
  policy(R"("metrics": {)",
         R"("metrics": {"peak_bytes": {"impossible_above": 2000000, "patch_tolerance": 0.005}, )");
  begin();
  policy("2000000", "3000000");
  policy("0.005", "0.02");
  expect_output(judge(), 1,
                AllOf(HasSubstr("impossible above of peak_bytes"), HasSubstr(": 2 MB -> 3 MB"),
                      HasSubstr(": 0.5 % -> 2 %")));
}

TEST_F(WhoJudges, ABoundThatIsSplitSaysWhyInItsParts) {
  const std::string whole =
      R"({"match": "toy/step/**", "variant": "optimized", "metric": "launches", )"
      R"("bound": {"max": 64, "source": "a toy's bound"}})";
  const std::string part =
      R"({"match": "toy/step/n:64/*", "variant": "optimized", "metric": "launches", "bound": {"max": 100, "source": "a toy's bound"})";
  policy(whole, part + "}");
  expect_output(judge(), 1, HasSubstr("LOOSENED: "));
  policy(part + "}", part + R"(, "why": "the small one launches by itself"})");
  expect_output(
      judge(), 0,
      AllOf(HasSubstr("at most 64 -> at most 100"), HasSubstr("the small one launches by itself")));
}

TEST_F(WhoJudges, ATighterRuleHoldsAtOnce) {
  policy(R"("max": 64)", R"("max": 3)");
  expect_output(judge(), 1, HasSubstr("is 4, above the bound of 3"));
}

// Such a metric has no accepted value and need not have a rule.
TEST_F(WhoJudges, WhatNoHardwareAllowsTheMergeBaseSays) {
  Results now = toy::dry();
  List listed = toy::list();
  for (ListedCase& one : listed.cases) one.devices.at("cuda-dry").push_back("floor_fraction");
  for (CaseResult& result : now.cases)
    result.variants["optimized"].metrics["floor_fraction"] = {.kind = "advisory", .value = 1.5};
  policy(R"("impossible_above": 1.1)", R"("impossible_above": 9)");
  store_as_listed(now, listed);
  expect_output(judge(), 1,
                AllOf(HasSubstr("impossible above of floor_fraction"),
                      HasSubstr("faster than the hardware allows")));
}

TEST_F(WhoJudges, AWaiverIsAcceptedAndShown) {
  policy(
      no_waivers,
      R"("waivers": [{"match": "toy/**", "metric": "launches", "until": "9999-12-31", "why": "until it is packed"}])");
  one_more_launch();
  expect_output(judge(), 0,
                AllOf(HasSubstr("waiver of launches"), HasSubstr("until it is packed")));
}

TEST_F(WhoJudges, AWaiverOfAClassThatNothingElseNamesIsToldAndItsOldReasonIsNone) {
  List listed = toy::list();
  for (ListedCase& one : listed.cases) one.devices["cuda"] = {"launches"};
  store_as_listed(toy::dry(), listed);
  const auto waived = [&](const std::string& device) {
    return text(R"({"match": "toy/step/**", "device": ")", device,
                R"(", "metric": "launches", "until": "2999-12-31", "why": "a slow card"})");
  };
  policy(no_waivers, text(R"("waivers": [)", waived("nvidia-a100"), ']'));
  expect_output(judge(), 0,
                AllOf(HasSubstr("ACCEPTED  waiver of launches"), HasSubstr("a slow card")));
  begin();
  policy(waived("nvidia-a100"), waived("nvidia-a100") + ", " + waived("nvidia-b200"));
  expect_output(judge(), 1,
                AllOf(HasSubstr("LOOSENED  waiver of launches"), HasSubstr("nvidia-b200")));
}

TEST_F(WhoJudges, AWaiverOfTheMergeBaseThatHasExpiredIsNoError) {
  policy(
      no_waivers,
      R"("waivers": [{"match": "toy/**", "metric": "launches", "until": "2020-01-01", "why": "known"}])");
  begin();
  write_file(common_policy_, toy::policy_text);
  EXPECT_EQ(judge(), 0) << complaints_;
}

TEST_F(WhoJudges, ACaseThatLeavesTheGateTierBlocks) {
  Results now = toy::dry();
  List listed = toy::list();
  now.cases.pop_back();
  listed.cases.back().tier = "full";
  store_as_listed(now, listed);
  expect_output(judge(), 3,
                AllOf(HasSubstr("of the tier full, which does not gate"),
                      HasSubstr("its case is of the tier full now"),
                      HasSubstr("say why in \"removed\" of ")));
  // Without a merge base the entries are there to tell it.
  expect_output(check(), 3, AllOf(HasSubstr("baseline accept"), Not(HasSubstr("say why in"))));
}

TEST_F(WhoJudges, WhatIsStillListedIsNotRemoved) {
  policy(no_waivers, R"("waivers": [],
 "removed": [{"match": "toy/sum/**", "metric": "launches", "why": "gone"}])");
  expect_complaint(judge(), 2,
                   HasSubstr("'removed' says that launches of toy/sum/n:64/f64 is gone"));
}

TEST_F(WhoJudges, ADirectionThatTurnsBlocksUntilThePolicySaysWhy) {
  Results now = toy::dry();
  List listed = toy::list();
  listed.metrics["launches"].better = Better::higher;
  toy::metric(now, "optimized", "launches") = toy::exact(5);
  Baseline edited = read_baseline(baseline(now));
  edited.metrics["launches"].better = Better::higher;
  write_file(baseline(now), baseline_text(edited));
  store_as_listed(now, listed);
  expect_output(
      judge(), 3,
      AllOf(HasSubstr("rose from 4 to 5"), HasSubstr("says the list"),
            HasSubstr("say why in its row of \"metrics\" in " + common_policy_.string())));
}

TEST_F(WhoJudges, ARuleThatCoversMoreForAnOldReasonIsALoosening) {
  policy(no_rules_yet, R"("rules": [{"match": "toy/sum/**", "metric": "launches", "tolerance": 0.5,
                                     "why": "the buffer of sum grows"},)");
  begin();
  policy("toy/sum/**", "toy/**");
  one_more_launch();
  expect_output(judge(), 1, HasSubstr("LOOSENED  tolerance of launches"));
}

TEST_F(WhoJudges, AnAbsenceThatCoversMoreForAnOldReasonIsALoosening) {
  const std::string absent =
      R"("waivers": [], "absent": [{"metric": "identity", "device": "cuda-dry-*", "reason": "no",
                                    "why": "known"}])";
  policy(no_waivers, absent);
  begin();
  policy(R"("metric": "identity", "device")", R"("metric": "*", "device")");
  expect_output(judge(), 1, HasSubstr("LOOSENED  * on cuda-dry-*"));
}

TEST_F(WhoJudges, AnAbsenceOnAnotherClassForAnOldReasonIsALoosening) {
  policy(no_waivers,
         R"("waivers": [], "absent": [{"metric": "identity", "device": "cuda-dry-*", "reason": "no",
                                       "why": "known"}])");
  begin();
  policy(R"("device": "cuda-dry-*")", R"("device": "*")");
  expect_output(judge(), 1, HasSubstr("LOOSENED  identity on *"));
}

// Screening says the same as before, a comparison in lock step does not.
TEST_F(WhoJudges, WhatAComparisonLetsPassIsPartOfARule) {
  accepted(toy::host());
  begin();
  policy(no_rules_yet, R"("rules": [
  {"match": "toy/**", "metric": "time_s", "gate": "warn"},
  {"match": "toy/**", "device": "host-*", "metric": "speedup", "tolerance": 0.05},)");
  expect_output(
      judge(), 1,
      AllOf(HasSubstr("LOOSENED  gate once compared of time_s"),
            HasSubstr("LOOSENED  tolerance once compared of speedup"), HasSubstr("2 % -> 5 %")));
}

TEST_F(WhoJudges, ReasonsOfWhiteSpaceAreNone) {
  policy(exact_kind, R"("exact": {"why": "  ", "gate": "off", "tolerance": 0)");
  expect_complaint(judge(), 2, HasSubstr("'why' is a reason, and is empty"));
  for (const char* blank : {"\\u00a0", "\\u2003\\u180e", "\\u3164", "\\u2800 \\u00ad"}) {
    write_file(common_policy_, toy::policy_text);
    policy(exact_kind, text(R"("exact": {"why": ")", blank, R"(", "gate": "off", "tolerance": 0)"));
    expect_complaint(judge(), 2, HasSubstr("'why' is a reason, and is empty"));
  }
  write_file(common_policy_, toy::policy_text);
  policy(exact_kind, R"("exact": {"why": "\u540c", "gate": "off", "tolerance": 0)");
  EXPECT_EQ(judge(), 0) << "a letter of any script is seen: " << output_ << complaints_;
}

TEST_F(WhoJudges, ARuleOfTheMergeBaseThatMatchesNothingIsALooseningUntilItsMetricIsRemoved) {
  Results now = toy::dry();
  List listed = toy::list();
  for (ListedCase& one : listed.cases) std::erase(one.devices.at("cuda-dry"), "launches");
  for (CaseResult& result : now.cases)
    for (auto& [name, variant] : result.variants) variant.metrics.erase("launches");
  policy(R"(
  {"match": "toy/step/**", "variant": "optimized", "metric": "launches", "bound": {"max": 64, "source": "a toy's bound"}})",
         "");
  store_as_listed(now, listed);
  expect_output(judge(), 3, HasSubstr("a rule -> matches nothing any more"));
  policy(no_waivers, R"("waivers": [],
 "removed": [{"match": "toy/**", "metric": "barriers", "why": "none is left"}])");
  EXPECT_EQ(judge(), 3) << output_ << complaints_;
  EXPECT_THAT(output_, HasSubstr("LOOSENED  toy/step/** launches")) << "that is of another metric";
  policy("barriers", "launches");
  expect_output(judge(), 0, HasSubstr("ACCEPTED  toy/step/** launches"));
}

TEST_F(WhoJudges, ANewCaseIsJudgedByTheChangesOwnRulesAndListed) {
  Results now = toy::dry();
  List listed = toy::list();
  listed.cases.push_back(listed.cases.front());
  now.cases.push_back(now.cases.front());
  listed.cases.back().id = now.cases.back().id = "toy/new/n:64/f64";
  policy(
      no_rules_yet,
      R"("rules": [{"match": "toy/new/**", "metric": "launches", "bound": {"max": 3, "source": "ours"}},)");
  store_as_listed(now, listed);
  ASSERT_EQ(accept({"--why=a new case"}), 0) << complaints_;
  expect_output(judge(), 1,
                AllOf(HasSubstr("toy/new/n:64/f64: none -> judged by this change's own"),
                      HasSubstr("above the bound of 3 (ours)")));
}

TEST_F(WhoJudges, ANewMetricOfAKnownCaseIsJudgedByTheChangesOwnRulesAndListed) {
  Results now = toy::dry();
  List listed = toy::list();
  listed.metrics["barriers"] = {"codegen"};
  listed.metrics["seconds"] = {"advisory"};
  for (ListedCase& one : listed.cases)
    for (const char* metric : {"barriers", "seconds"}) one.devices.at("cuda-dry").push_back(metric);
  for (CaseResult& result : now.cases)
    for (auto& [name, variant] : result.variants) {
      variant.metrics["barriers"] = toy::codegen(2);
      variant.metrics["seconds"] = {.kind = "advisory", .value = 1};
    }
  store_as_listed(now, listed);
  ASSERT_EQ(accept({"--why=barriers are counted"}), 0) << complaints_;
  expect_output(judge(), 0,
                AllOf(HasSubstr("barriers, for 2 cases such as toy/step/n:64/f64 on "
                                "cuda-dry: none -> judged by this change's own rules"),
                      Not(HasSubstr("seconds, for"))));
}

TEST_F(WhoJudges, ARenamedCaseIsHeldToTheRulesOfItsOldName) {
  Results now = toy::dry();
  List listed = toy::list();
  listed.cases.front().id = now.cases.front().id = "toy/stride/n:64/f64";
  toy::metric(now, "optimized", "launches") = toy::exact(65);
  aliases(R"("toy/step/n:64/f64": "toy/stride/n:64/f64")");
  policy("toy/step/**", "toy/stride/**");
  policy("64,", "6400,");
  store_as_listed(now, listed);
  expect_output(judge(), 1,
                AllOf(HasSubstr("alias of toy/step/n:64/f64: none -> toy/stride/n:64/f64"),
                      HasSubstr("above the bound of 64"), Not(HasSubstr("MISSING"))));
}

TEST_F(WhoJudges, ANameOfAnotherSizeIsALooseningUntilItSaysWhy) {
  const std::string small = "toy/step/n:8/f64";
  Results now = toy::dry();
  List listed = toy::list();
  listed.cases.front().id = now.cases.front().id = small;
  const auto judge_alias = [&](const std::string& why) {
    aliases(R"("toy/step/n:64/f64": "toy/step/n:8/f64")", why);
    store_as_listed(now, listed);
    return judge();
  };
  EXPECT_EQ(judge_alias(""), 1) << output_;
  EXPECT_THAT(output_, HasSubstr("LOOSENED  alias of toy/step/n:64/f64: none -> " + small));
  EXPECT_EQ(judge_alias(R"("toy/step/n:64/f64": "n counts rows now")"), 0)
      << output_ << complaints_;
  EXPECT_THAT(output_, AllOf(HasSubstr("ACCEPTED  alias of toy/step/n:64/f64"),
                             HasSubstr("n counts rows now")));
  expect_complaint(judge_alias(R"("toy/step/n:64/f64": " ")"), 2,
                   HasSubstr("'why' is a reason, and is empty"));
  expect_complaint(judge_alias(R"("toy/sum/n:64/f64": "none such")"), 2,
                   HasSubstr("toy/sum/n:64/f64"));
}

TEST_F(WhoJudges, ANameOfAnotherSizeIsNotExcusedByTheReasonOfAnOlderOne) {
  aliases(R"("toy/total/n:8/f64": "toy/sum/n:64/f64")",
          R"("toy/total/n:8/f64": "n counts rows now")");
  begin();
  Results now = toy::dry();
  List listed = toy::list();
  listed.cases.front().id = now.cases.front().id = "toy/step/n:8/f64";
  aliases(R"("toy/total/n:8/f64": "toy/sum/n:64/f64", "toy/step/n:64/f64": "toy/step/n:8/f64")",
          R"("toy/total/n:8/f64": "n counts rows now", "toy/step/n:64/f64": "n counts rows now")");
  store_as_listed(now, listed);
  expect_output(judge(), 1, HasSubstr("LOOSENED  alias of toy/step/n:64/f64"));
}

TEST_F(WhoJudges, AnAliasMayGoOnceItsValuesHaveTheNewName) {
  Results now = toy::dry();
  List listed = toy::list();
  listed.cases.front().id = now.cases.front().id = "toy/stride/n:64/f64";
  aliases(R"("toy/step/n:64/f64": "toy/stride/n:64/f64")");
  policy("toy/step/**", "toy/stride/**");
  store_as_listed(now, listed);
  begin();
  ASSERT_EQ(accept(), 0) << complaints_;
  aliases("");
  EXPECT_EQ(judge(), 0) << output_ << complaints_;
  toy::metric(now, "optimized", "launches") = toy::exact(5);
  store_as_listed(now, listed);
  expect_output(judge(), 1, HasSubstr("rose from 4 to 5"));
}

TEST_F(WhoJudges, AliasesThatGitKnowsAndThatAreGoneAreIncomplete) {
  aliases(R"("toy/old/n:64/f64": "toy/step/n:64/f64")");
  begin();
  EXPECT_EQ(judge(), 0) << output_ << complaints_;
  std::filesystem::remove(baselines_ / "aliases.json");
  expect_complaint(judge(), 3, HasSubstr("aliases.json: git's index has the file"));
  expect_complaint(check(), 3, HasSubstr("aliases.json: git's index has the file"));
}

TEST_F(WhoJudges, AnotherSizeInTwoStepsIsOne) {
  aliases(R"("toy/stride/n:8/f64": "toy/step/n:64/f64")");
  begin();
  Results now = toy::dry();
  List listed = toy::list();
  listed.cases.front().id = now.cases.front().id = "toy/hop/n:8/f64";
  aliases(R"("toy/stride/n:8/f64": "toy/step/n:64/f64", "toy/step/n:64/f64": "toy/hop/n:8/f64")",
          R"("toy/stride/n:8/f64": "a reason that excuses another")");
  policy("toy/step/**", "toy/hop/**");
  store_as_listed(now, listed);
  expect_output(judge(), 1, HasSubstr("LOOSENED  alias of toy/step/n:64/f64"));
}

TEST_F(WhoJudges, TheTableStandsInTheVerdictForPeople) {
  policy(exact_kind, R"("exact": {"gate": "warn", "tolerance": 0)");
  EXPECT_EQ(judge(), 1);
  EXPECT_THAT(read_file(results_ / "verdict.md"),
              AllOf(HasSubstr("What this change does to what judges it"),
                    HasSubstr("| LOOSENED | gate of launches"), HasSubstr("| block | warn |")));
  EXPECT_THAT(read_file(results_ / "verdict.xml"), HasSubstr("LOOSENED"));
}

}  // namespace
}  // namespace holdfast::gate
