// SPDX-License-Identifier: Apache-2.0
// The second opinion on rows that a test makes up, from real processes of the fake suite.
#include "gate/compare/confirm.hpp"
#include "gate/documents/verdict_names.hpp"

#include <gmock/gmock.h>

#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <utility>

#include "gate/compare/comparison.hpp"
#include "gate/documents/build_folder.hpp"
#include "gate/measure/suite_process.hpp"
#include "gate/testing/fake_build.hpp"
#include "gate/testing/toy_root.hpp"

namespace holdfast::gate {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Key;
using testing::Not;
using testing::ThrowsMessage;

constexpr const char* added = "fake_suite/add/n:8/f64";

class Confirming : public testing::Test {
 protected:
  TemporaryFolder folder_{"confirm-test"};
  ConfirmPlan plan_{.base = folder_.path() / "base",
                    .head = folder_.path() / "head",
                    .unit_seconds = 1e-3,
                    .clock = Clock::real};
  Allowance allowance_{.comparisons = 1000};
  std::vector<std::string> notes_;
  std::string policy_ = toy::policy_text;
  std::optional<std::string> policy_before_ = {};    // the merge base's, where there is one
  std::optional<std::string> accepted_from_ = {};    // a content; by default the base's
  std::optional<std::string> measured_binary_ = {};  // a hash; none is told by default
  double anchor_ = 10;                               // of the speedup, which was accepted as 10

  void SetUp() override { builds(1.1e-3); }
  // A step of the head takes so long. Where a test says nothing, it is 10 % slower than the base's.
  void builds(double head_seconds, double base_seconds = 1e-3) {
    toy::fake_build(plan_.head, head_seconds);
    toy::fake_build(plan_.base, base_seconds);
  }
  // Two builds whose flags alone differ, or whose content was hashed before an edit.
  void builds_of_one_content(double head_seconds) {
    builds(head_seconds);
    for (const fs::path& build : {plan_.head, plan_.base})
      write_file(build / "content.json",
                 R"({"content": "sha256:0f0f", "git": {"dirty": false, "sha": ""}})");
  }
  Part part() const {
    Part made{.results = toy::empty_results("host", "host-x86_64-v4-2t"), .list = toy::list()};
    made.results.suite = "fake_suite";
    made.results.run.content = content(plan_.head);
    made.results.run.binary = measured_binary_;
    made.directory = "results";
    const fs::path base = fs::exists(plan_.base / "fake_suite") ? plan_.base : plan_.head;
    const Acceptance accepted{.utc = "2026-11-20T12:00:00Z",
                              .content = accepted_from_.value_or(content(base)),
                              .why = "first"};
    made.baseline.emplace();
    for (const auto& [metric, variant, value, anchor] :
         {std::tuple("speedup", case_variant, 10., anchor_),
          std::tuple("time_s", "optimized", 1e-3, 1e-3)})
      made.baseline->entries[entry_key(added, variant, metric)] = {
          .value = value, .medians = {value}, .anchor = anchor, .accepted = accepted};
    return made;
  }
  void add_rule(const std::string& rule) {
    policy_ = toy::replaced(policy_, R"("rules": [)", R"("rules": [)" + rule + ',');
  }
  void waive_times() {
    policy_ = toy::replaced(policy_, R"("waivers": [)", R"("waivers": [
      {"match": "fake_suite/**", "metric": "time_s", "until": "2027-03-01", "why": "known"})");
  }
  // A suite that dies as soon as it is asked.
  static void kill(const fs::path& build) {
    std::ofstream(build / "fake_suite") << "#!/bin/sh\necho falling >&2\nexit 9\n";
  }
  // A suite that lists its cases like the head's, and dies when it should answer.
  void kill_answers_of_base() const {
    std::ofstream(plan_.base / "fake_suite")
        << "#!/bin/sh\ncase \"$*\" in *--list=json*) exec '" << (plan_.head / "fake_suite").string()
        << "' --list=json;; esac\necho falling >&2\nexit 9\n";
  }
  static std::string content(const fs::path& build) {
    return provenance(build / "fake_suite").content;
  }
  // A row that screening called worse.
  static Row suspect(const std::string& metric = "speedup", const std::string& case_id = added) {
    Row row{.case_id = case_id,
            .device_class = "host-x86_64-v4-2t",
            .variant = metric == "speedup" ? case_variant : "optimized",
            .metric = metric,
            .kind = metric == "speedup" ? "ratio" : "time"};
    row.verdict = verdict::regression;
    row.blocking = metric == "speedup";
    row.value = metric == "speedup" ? 8 : 1.25e-3;
    row.sentence = "it fell";
    row.evidence["control"] = "screening's control";
    return row;
  }
  static Row suspect_time_beside() {
    Row row = suspect("time_s");
    row.standard = held_against::beside;
    return row;
  }
  static Row undecided() {
    Row row = suspect();
    row.verdict = verdict::noisy;
    row.blocking = false;
    return row;
  }
  // A speedup that some processes have below the bound of a rule that was added.
  Row below_a_bound() const {
    Row row = undecided();
    row.standard = held_against::bound;
    row.blocking = true;
    const Policy now = toy::policy(policy_);
    for (const Rule& rule : now.rules())
      if (rule.bound && rule.metric_name() == "speedup") row.evidence["rule"] = rule.place;
    return row;
  }
  Policy policy() const {
    Policy now = toy::policy(policy_);
    if (!policy_before_) return now;
    return now.held_to({.policy = std::make_shared<const Policy>(toy::policy(*policy_before_)),
                        .values = {text(added, "|speedup"), text(added, "|time_s")}});
  }
  void compare(const std::vector<Row*>& rows, const Part& part) {
    confirm(plan_, part, policy(), rows, notes_, allowance_);
  }
  Row after(Row row, const Part& part) {
    compare({&row}, part);
    return row;
  }
  Row after(Row row) { return after(std::move(row), part()); }
  // Expects that screening's verdict on a suspect stays, with this note.
  void expect_regression(const testing::Matcher<std::string>& note) {
    const Row row = after(suspect());
    EXPECT_EQ(row.verdict, verdict::regression);
    EXPECT_TRUE(row.blocking);
    EXPECT_THAT(row.evidence, Not(Contains(Key("A/B"))));
    EXPECT_THAT(notes_, ElementsAre(note));
  }
};

TEST_F(Confirming, ASlowerBuildIsConfirmedAndBlocks) {
  const Row row = after(undecided());
  EXPECT_EQ(row.verdict, verdict::regression);
  EXPECT_TRUE(row.blocking);
  EXPECT_THAT(row.sentence, HasSubstr("it fell; confirmed: A/B of 14 units: +10 % .. +10 %"));
  EXPECT_THAT(row.evidence.at("A/B"), HasSubstr("the smallest slowdown that this run could"));
  EXPECT_THAT(row.evidence.at("control"), HasSubstr("-> not the machine"));
  EXPECT_THAT(*row.next, HasSubstr("holdfast explain fake_suite/add/n:8/f64 results"));
  EXPECT_THAT(notes_, IsEmpty());
}

TEST_F(Confirming, ScreeningIsKeptBesideIt) {
  EXPECT_EQ(after(suspect()).evidence.at("screening"),
            "REGRESSION (blocking); screening's control");
}

TEST_F(Confirming, ABuildThatIsNoSlowerRefutesTheSuspicion) {
  builds(1.0001e-3);
  const Row row = after(suspect());
  EXPECT_EQ(row.verdict, verdict::pass);
  EXPECT_FALSE(row.blocking);
  EXPECT_THAT(row.evidence, AllOf(Contains(Key("A/B")), Contains(Key("screening"))));
  EXPECT_THAT(notes_, ElementsAre(HasSubstr("did not find: it fell; refuted by A/B of 14 units")));
}

TEST_F(Confirming, WhatCameBeforeTheBaseStaysDrift) {
  builds(1.0001e-3);
  accepted_from_ = "sha256:0123456789";
  const Row row = after(suspect());
  EXPECT_EQ(row.verdict, verdict::drift);
  EXPECT_FALSE(row.blocking);
  EXPECT_THAT(row.sentence, HasSubstr("it has drifted from its first accepted value, 10, to 8"));
  EXPECT_THAT(row.evidence.at("base"), HasSubstr("accepted from sha256:01234567: what came"));
  EXPECT_THAT(*row.next, HasSubstr("holdfast run fake_suite"));
}

TEST_F(Confirming, DriftBlocksWhereThePolicySaysSo) {
  builds(1.0001e-3);
  accepted_from_ = "sha256:0123456789";
  policy_ = toy::policy_with(R"("ratio": {)", R"("ratio": {"drift": "block",)");
  EXPECT_TRUE(after(suspect()).blocking);
}

TEST_F(Confirming, ALittleLossFromADriftedValueIsDrift) {
  builds(1.0001e-3);
  anchor_ = 12;
  const Row row = after(suspect());
  EXPECT_EQ(row.verdict, verdict::drift);
  EXPECT_THAT(row.sentence, HasSubstr("first accepted value, 12, to 9.99"));
  EXPECT_THAT(*row.next, HasSubstr("holdfast explain fake_suite/add/n:8/f64"));
}

TEST_F(Confirming, TheSlowMeasurementOfTheAcceptedContentIsTheMachine) {
  builds_of_one_content(1.0001e-3);
  const Row row = after(suspect());
  EXPECT_EQ(row.verdict, verdict::environment);
  EXPECT_FALSE(row.blocking);
  EXPECT_THAT(row.sentence, AllOf(HasSubstr("it fell; refuted by A/B of 14 units"),
                                  HasSubstr("accepted from this very content")));
  EXPECT_THAT(row.evidence, AllOf(Contains(Key("screening")), Contains(Key("A/B"))));
  EXPECT_THAT(notes_, IsEmpty());
}

TEST_F(Confirming, OneContentIsNotYetOneBuild) {
  builds_of_one_content(1.1e-3);
  const Row row = after(suspect());
  EXPECT_EQ(row.verdict, verdict::regression);
  EXPECT_TRUE(row.blocking);
  EXPECT_THAT(row.sentence, HasSubstr("it fell; confirmed: A/B of 14 units"));
}

TEST_F(Confirming, ABuildOfOtherFlagsThanTheMeasuredOneRefutesNothing) {
  builds_of_one_content(1.5e-3);
  measured_binary_ = sha256(read_file(plan_.head / "fake_suite"));
  builds_of_one_content(1e-3);
  expect_regression(AllOf(HasSubstr("screening's REGRESSION stands"),
                          HasSubstr("measured from another build of its content")));
}

TEST_F(Confirming, TheVeryBinaryThatWasMeasuredIsCompared) {
  measured_binary_ = sha256(read_file(plan_.head / "fake_suite"));
  EXPECT_THAT(after(suspect()).sentence, HasSubstr("it fell; confirmed: A/B of 14 units"));
}

TEST_F(Confirming, ABaseOfTheSameContentRefutesNothing) {
  builds_of_one_content(1.0001e-3);
  accepted_from_ = "sha256:0123456789";
  expect_regression(AllOf(HasSubstr("screening's REGRESSION stands"),
                          HasSubstr("is built from the very content")));
}

TEST_F(Confirming, ABaseOfTheSameContentThatWasMeasuredBesideSpeaksOfTheMachine) {
  builds_of_one_content(1.0001e-3);
  accepted_from_ = "sha256:0123456789";
  anchor_ = 8;
  Row beside = suspect();
  beside.standard = held_against::beside;
  const Row row = after(beside);
  EXPECT_EQ(row.verdict, verdict::environment);
  EXPECT_FALSE(row.blocking);
  EXPECT_THAT(row.sentence, HasSubstr("both builds are of one content"));
}

// The optimized variant is as fast as the base's.
TEST_F(Confirming, ARatioThatAFasterReferenceLoweredHasDrifted) {
  builds(1e-3);
  std::ofstream(plan_.head / "fake_suite")
      << "#!/bin/sh\necho ready 3\nwhile read -r line; do case $line in batch*) echo ok;; "
         "reference) echo 1.5e-3 1e-3;; *) echo 1e-3 1e-3;; esac; done\n";
  const Row row = after(suspect());
  EXPECT_EQ(row.verdict, verdict::drift);
  EXPECT_THAT(row.sentence, HasSubstr("first accepted value, 10, to 7."));
}

TEST_F(Confirming, ABuildWhoseEverySecondSampleIsSlowerIsNotCleared) {
  builds(1e-3);
  std::ofstream(plan_.head / "fake_suite")
      << "#!/bin/sh\necho ready 3\nn=0\nwhile read -r line; do case $line in batch*) echo ok;; "
         "reference) echo 2e-3 2e-3;; *) n=$((n+1)); if [ $((n%2)) = 0 ]; then echo 1.2e-3 1.2e-3; "
         "else echo 1e-3 1e-3; fi;; esac; done\n";
  plan_.budget_seconds = 0.5;
  const Row row = after(suspect());
  EXPECT_EQ(row.verdict, verdict::noisy);
  EXPECT_TRUE(row.blocking);
  EXPECT_THAT(row.evidence.at("A/B"), HasSubstr("in the mean +"));
}

TEST_F(Confirming, ASpentBudgetLeavesItUndecided) {
  plan_.budget_seconds = 1e-6;
  const Row row = after(suspect());
  EXPECT_EQ(row.verdict, verdict::noisy);
  EXPECT_TRUE(row.blocking);
  plan_.undecided_fails = false;
  EXPECT_FALSE(after(suspect()).blocking);
}

TEST_F(Confirming, ACaseThatItsBudgetLeavesUndecidedHasWhatOthersLeft) {
  plan_.budget_seconds = 1e-6;
  allowance_.seconds = 60;
  EXPECT_EQ(after(suspect()).verdict, verdict::regression);
  EXPECT_LT(allowance_.seconds, 60);
  EXPECT_GT(allowance_.seconds, 0);
}

TEST_F(Confirming, WhatADecidedCaseDoesNotNeedIsLeft) {
  after(suspect());
  EXPECT_LT(allowance_.seconds, stretched_budget(plan_.budget_seconds, INFINITY));  // when busy
  EXPECT_GT(allowance_.seconds, plan_.budget_seconds / 2);
}

TEST_F(Confirming, WhatACaseTookBeyondItsBudgetIsMissingToTheOthers) {
  plan_.budget_seconds = 1e-6;
  allowance_.seconds = -1;  // so that it does not go on
  after(suspect());
  EXPECT_LT(allowance_.seconds, -1);
}

// Its 14 units would take 0.7 s.
TEST_F(Confirming, WhatAnOpenCaseUsesUpIsGivenToNoOther) {
  plan_.budget_seconds = 1e-6;
  plan_.unit_seconds = 0.05;
  allowance_.seconds = 0.3;
  after(suspect());
  EXPECT_LE(allowance_.seconds, 1e-9);
}

TEST_F(Confirming, EachOpenCaseHasSomeOfWhatIsLeft) {
  plan_.budget_seconds = 1e-6;
  allowance_.seconds = 60;
  Row first = suspect(), second = suspect("speedup", "fake_suite/scale/n:8/f64");
  compare({&first, &second}, part());
  for (const Row* row : {&first, &second})
    EXPECT_THAT(row->sentence, HasSubstr("confirmed: A/B of 14 units"));
}

// Screening estimated 5 %.
TEST_F(Confirming, ARowResolvesWhatItsComparisonCouldHaveShown) {
  Row hopeful = suspect();
  hopeful.standard = held_against::accepted;
  hopeful.resolution = 0.05;
  hopeful.resolved_by = held_against::accepted;
  const Row exact = after(hopeful);
  EXPECT_NEAR(exact.resolution.value(), 0.02, 1e-3) << "every pair says the same";
  EXPECT_EQ(exact.resolved_by, held_against::accepted);
  plan_.budget_seconds = 1e-6;
  allowance_.seconds = 0;
  const Row undecided = after(hopeful);
  EXPECT_EQ(undecided.verdict, verdict::noisy);
  EXPECT_EQ(undecided.resolution, std::nullopt) << "a single pair bounds nothing";
}

TEST_F(Confirming, ABoundIsReplacedByWhatWasShownWhereThatIsFiner) {
  Row bound = suspect();
  bound.standard = held_against::accepted;
  bound.resolved_by = held_against::bound;
  bound.resolution = 0.5;
  const Row finer = after(bound);
  EXPECT_NEAR(finer.resolution.value(), 0.02, 1e-3);
  EXPECT_EQ(finer.resolved_by, held_against::accepted);
  bound.resolution = 0.001;
  const Row coarser = after(bound);
  EXPECT_EQ(coarser.resolution, 0.001);
  EXPECT_EQ(coarser.resolved_by, held_against::bound);
}

TEST_F(Confirming, AWarningIsNeverToldAsARegression) {
  fs::remove(plan_.base / "fake_suite");
  const Row left = after(suspect("time_s"));
  EXPECT_FALSE(left.blocking);
  EXPECT_THAT(notes_, ElementsAre(HasSubstr("screening's WARN stands: ")));
  builds(1.1e-3);
  EXPECT_EQ(after(suspect("time_s")).evidence.at("screening"), "WARN; screening's control");
}

TEST_F(Confirming, WhatIsBeyondTheMostComparisonsIsToldAndKeepsScreeningsWord) {
  allowance_.comparisons = 1;
  Row first = suspect(), second = suspect("speedup", "fake_suite/scale/n:8/f64");
  EXPECT_EQ(count_comparisons(plan_, part(), policy(), {&first, &second}), 2u);
  compare({&first, &second}, part());
  EXPECT_EQ(allowance_.comparisons, 0u);
  EXPECT_THAT(first.evidence, Contains(Key("A/B")));
  EXPECT_THAT(second.evidence, Not(Contains(Key("A/B"))));
  EXPECT_EQ(second.verdict, verdict::regression);
  EXPECT_TRUE(second.blocking);
  EXPECT_THAT(notes_, ElementsAre(HasSubstr("not compared: 1 value of fake_suite on ")));
}

TEST_F(Confirming, WhatCannotBeComparedTakesNoComparisonFromOthers) {
  fs::remove(plan_.base / "fake_suite");
  Row row = suspect();
  EXPECT_EQ(count_comparisons(plan_, part(), policy(), {&row}), 0u);
  compare({&row}, part());
  EXPECT_EQ(allowance_.comparisons, 1000u);
}

TEST_F(Confirming, WhatWasLostBeforeTheBaseTakesNoComparisonFromOthers) {
  builds_of_one_content(1.0001e-3);
  accepted_from_ = "sha256:0123456789";
  allowance_.comparisons = 1;
  Row before = suspect(), beside = suspect("speedup", "fake_suite/scale/n:8/f64");
  beside.standard = held_against::beside;
  EXPECT_EQ(count_comparisons(plan_, part(), policy(), {&before, &beside}), 1u);
  compare({&before, &beside}, part());
  EXPECT_THAT(before.evidence, Not(Contains(Key("A/B"))));
  EXPECT_THAT(beside.evidence, Contains(Key("A/B")));
}

TEST_F(Confirming, ATimeThatOnlyWarnsBlocksOnceItIsConfirmed) {
  EXPECT_TRUE(after(suspect("time_s")).blocking);
}

TEST_F(Confirming, ARuleThatSaysWarnKeepsItsWord) {
  add_rule(R"({"match": "fake_suite/**", "metric": "time_s", "gate": "warn"})");
  const Row row = after(suspect("time_s"));
  EXPECT_EQ(row.verdict, verdict::regression);
  EXPECT_FALSE(row.blocking);
}

TEST_F(Confirming, ARuleThatAllowsMoreAllowsItHereToo) {
  anchor_ = 9.2;
  add_rule(R"({"match": "fake_suite/**", "metric": "speedup", "tolerance": 0.2})");
  EXPECT_EQ(after(suspect()).verdict, verdict::pass);
}

constexpr const char* losses_warn =
    R"({"match": "fake_suite/**", "metric": "speedup", "gate": "warn"})";
constexpr const char* losses_of_a_fifth_pass =
    R"({"match": "fake_suite/**", "metric": "speedup", "tolerance": 0.2})";
constexpr const char* bound =
    R"({"match": "fake_suite/**", "metric": "speedup", "bound": {"min": 9, "source": "a target"}})";
constexpr const char* bound_that_warns =
    R"({"match": "fake_suite/**", "metric": "speedup", "gate": "warn",
        "bound": {"min": 9, "source": "a target"}})";

TEST_F(Confirming, ABoundBlocksByItsOwnGate) {
  add_rule(losses_warn);
  add_rule(bound);
  const Row lost = after(below_a_bound());
  EXPECT_EQ(lost.verdict, verdict::regression);
  EXPECT_TRUE(lost.blocking);
  plan_.budget_seconds = 1e-6;
  allowance_.seconds = 0;
  const Row open = after(below_a_bound());
  EXPECT_EQ(open.verdict, verdict::noisy);
  EXPECT_TRUE(open.blocking);
}

TEST_F(Confirming, ABoundThatTheBaseIsBeyondTooOnlyWarnsWhereItStaysUndecided) {
  add_rule(bound);
  plan_.budget_seconds = 1e-6;
  Row warned = below_a_bound();
  warned.blocking = false;
  EXPECT_EQ(after(warned).verdict, verdict::noisy);
  EXPECT_FALSE(after(warned).blocking);
}

TEST_F(Confirming, ABoundThatOnlyWarnsHidesNoLossThatTheRuleForLossesFails) {
  add_rule(bound_that_warns);
  EXPECT_TRUE(after(below_a_bound()).blocking);
  add_rule(losses_of_a_fifth_pass);
  EXPECT_FALSE(after(below_a_bound()).blocking);
}

TEST_F(Confirming, WhatARuleAllowsBesideTheBaseClearsNoBound) {
  anchor_ = 9.2;
  add_rule(losses_of_a_fifth_pass);
  add_rule(bound);
  EXPECT_EQ(after(below_a_bound()).verdict, verdict::regression);
}

TEST_F(Confirming, AWarningOrAWaiverThatTheChangeTakesOutHoldsNoMore) {
  const std::string now = policy_;
  add_rule(R"({"match": "fake_suite/**", "metric": "time_s", "gate": "warn"})");
  policy_before_ = std::exchange(policy_, now);
  EXPECT_TRUE(after(suspect("time_s")).blocking);
  waive_times();
  policy_before_ = std::exchange(policy_, now);
  EXPECT_EQ(after(suspect("time_s")).verdict, verdict::regression);
  fs::remove(plan_.base / "fake_suite");
  EXPECT_EQ(after(suspect_time_beside()).verdict, verdict::noisy);
}

TEST_F(Confirming, AToleranceThatTheChangeNarrowsIsNarrowHereToo) {
  anchor_ = 9.2;
  const std::string now = policy_;
  add_rule(losses_of_a_fifth_pass);
  policy_before_ = std::exchange(policy_, now);
  EXPECT_EQ(after(suspect()).verdict, verdict::regression);
  std::swap(policy_, *policy_before_);
  EXPECT_EQ(after(suspect()).verdict, verdict::regression) << "nor is it wider than it was";
}

TEST_F(Confirming, AWaiverBesideANarrowerToleranceHidesNoLossThatTheOlderRuleFails) {
  const std::string now = policy_;
  add_rule(R"({"match": "fake_suite/**", "metric": "time_s", "tolerance": 0.05})");
  policy_before_ = std::exchange(policy_, now);
  add_rule(R"({"match": "fake_suite/**", "metric": "time_s", "tolerance": 0.02})");
  waive_times();
  const Row row = after(suspect("time_s"));
  EXPECT_EQ(row.verdict, verdict::regression);
  EXPECT_TRUE(row.blocking);
}

TEST_F(Confirming, WhatNeitherOfTwoRulesFailsByItselfIsNotFailedByBoth) {
  anchor_ = 9.2;
  const std::string now = policy_;
  add_rule(losses_of_a_fifth_pass);
  policy_before_ = std::exchange(policy_, now);
  add_rule(losses_warn);
  EXPECT_FALSE(after(suspect()).blocking);
}

TEST_F(Confirming, ABaseWithoutTheSuiteLeavesScreeningsWord) {
  fs::remove(plan_.base / "fake_suite");
  expect_regression(
      AllOf(HasSubstr("screening's REGRESSION stands"), HasSubstr("has no suite fake_suite")));
}

// A time that was lost beside the base of the same hour.
TEST_F(Confirming, WhatNothingComparedIsUndecidedBesideABase) {
  fs::remove(plan_.base / "fake_suite");
  const Row beside = suspect_time_beside(), row = after(beside);
  EXPECT_EQ(row.verdict, verdict::noisy);
  EXPECT_TRUE(row.blocking);
  EXPECT_THAT(row.sentence, HasSubstr("it fell; undecided, because nothing compared it"));
  EXPECT_EQ(row.evidence.at("screening"), "WARN; screening's control");
  EXPECT_THAT(*row.next, HasSubstr("holdfast run fake_suite"));
  EXPECT_THAT(notes_, ElementsAre(HasSubstr("not confirmed, so screening's WARN is undecided: ")));
  plan_.undecided_fails = false;
  EXPECT_FALSE(after(beside).blocking);
}

TEST_F(Confirming, WhatNothingComparedStaysAWarningWhereThePolicyOrTheControlSaysSo) {
  fs::remove(plan_.base / "fake_suite");
  Row reference = suspect_time_beside();
  reference.variant = "reference";
  EXPECT_EQ(after(reference).verdict, verdict::regression);
  add_rule(R"({"match": "fake_suite/**", "metric": "time_s", "gate": "warn"})");
  EXPECT_EQ(after(suspect_time_beside()).verdict, verdict::regression);
}

TEST_F(Confirming, AWaiverHoldsForWhatNothingComparedBesideABase) {
  fs::remove(plan_.base / "fake_suite");
  waive_times();
  EXPECT_EQ(after(suspect_time_beside()).verdict, verdict::waived);
}

TEST_F(Confirming, ABaseWithoutTheCaseLeavesScreeningsWord) {
  const Row row = after(suspect("speedup", "fake_suite/new/n:8/f64"));
  EXPECT_EQ(row.verdict, verdict::regression);
  EXPECT_THAT(notes_, ElementsAre(HasSubstr("does not time this case on host")));
}

TEST_F(Confirming, ABaseThatDiesLeavesScreeningsWord) {
  kill(plan_.base);
  expect_regression(HasSubstr("falling"));
}

TEST_F(Confirming, AHeadThatDiesLeavesWhatWasUndecidedMissing) {
  kill(plan_.head);
  const Row row = after(undecided());
  EXPECT_EQ(row.verdict, verdict::missing);
  EXPECT_TRUE(row.blocking);
  EXPECT_THAT(row.sentence, AllOf(HasSubstr("the head's fake_suite"), HasSubstr("falling")));
  EXPECT_THAT(notes_, IsEmpty());
}

TEST_F(Confirming, ABaseThatDiesWhereItIsToAnswerLeavesWhatWasUndecidedSo) {
  kill_answers_of_base();
  const Row row = after(undecided());
  EXPECT_EQ(row.verdict, verdict::noisy);
  EXPECT_FALSE(row.blocking);
  EXPECT_THAT(notes_, ElementsAre(AllOf(HasSubstr("the base's fake_suite"), HasSubstr("falling"))));
}

TEST_F(Confirming, AHeadThatDiesLeavesAWarningMissing) {
  kill(plan_.head);
  const Row row = after(suspect("time_s"));
  EXPECT_EQ(row.verdict, verdict::missing);
  EXPECT_TRUE(row.blocking);
}

TEST_F(Confirming, AHeadThatDiesLeavesARegressionOne) {
  kill(plan_.head);
  expect_regression(HasSubstr("the head's fake_suite"));
}

// The head goes after it was looked at, and what would wait is ended.
TEST_F(Confirming, ARunThatFindsNoRoomForItsBuildsDoesNotWaitForItsOwnLockOfAGpu) {
  const std::string head = plan_.head / "fake_suite", list = plan_.base / "list";
  write_file(list, list_of(head, {}));
  Part on_gpu = part();
  on_gpu.results.env.device_name = "cuda:0";
  std::ofstream(plan_.base / "fake_suite")
      << "#!/bin/sh\ncat '" << list << "'\nrm -f '" << head << "'\n";
  Row first = suspect(), second = suspect("speedup", "fake_suite/scale/n:8/f64");
  ::alarm(60);
  compare({&first, &second}, on_gpu);
  ::alarm(0);
  EXPECT_THAT(notes_, testing::Each(HasSubstr("cannot copy")));
  EXPECT_THAT(notes_, testing::SizeIs(2));
}

TEST_F(Confirming, ResultsOfAnotherBuildAreNotCompared) {
  Part other = part();
  other.results.run.content = "sha256:c0";
  EXPECT_EQ(after(suspect(), other).verdict, verdict::regression);
  EXPECT_THAT(notes_, ElementsAre(HasSubstr("measure again")));
}

TEST_F(Confirming, ResultsOfDeviceCodeThatIsNotTheBuildsAreNotCompared) {
  Part other = part();
  other.results.run.sources = "/elsewhere";
  EXPECT_EQ(after(suspect(), other).verdict, verdict::regression);
  EXPECT_THAT(notes_, ElementsAre(HasSubstr("from HOLDFAST_SOURCES, not from a build")));
}

TEST_F(Confirming, DeviceCodeThatBothBuildsWouldShareIsNotCompared) {
  ASSERT_EQ(::setenv("HOLDFAST_SOURCES", "/elsewhere", 1), 0);
  expect_regression(HasSubstr("gives both builds the same device code"));
  ::unsetenv("HOLDFAST_SOURCES");
}

TEST_F(Confirming, TheReferenceIsNoSubject) {
  Row row = suspect("time_s");
  row.variant = "reference";
  EXPECT_EQ(after(row).verdict, verdict::regression);
  EXPECT_THAT(notes_, ElementsAre(HasSubstr("is the control")));
}

TEST_F(Confirming, ARenamedCaseIsAskedOfTheBaseByTheNameThatItHasThere) {
  toy::fake_build(plan_.head, 1.1e-3);
  toy::fake_build(plan_.base, 1e-3, "fake_suite/plus/n:8/f64");
  expect_regression(HasSubstr("does not time this case on host"));
  notes_.clear();
  plan_.aliases = Aliases::parse(
      Document("aliases.json", text(R"({"schema": "holdfast-aliases/1", "aliases": )",
                                    R"({"fake_suite/plus/n:8/f64": "fake_suite/add/n:8/f64"}})")));
  EXPECT_THAT(after(suspect()).evidence, Contains(Key("A/B")));
  EXPECT_THAT(notes_, IsEmpty());
}

TEST_F(Confirming, RowsOfOneCaseShareOneComparison) {
  Row ratio = suspect(), time = suspect("time_s");
  compare({&ratio, &time}, part());
  EXPECT_EQ(ratio.evidence.at("A/B"), time.evidence.at("A/B"));
}

TEST_F(Confirming, WhatARuleAllowsOneMetricExcusesNoOther) {
  add_rule(R"({"match": "fake_suite/**", "metric": "time_s", "tolerance": 0.2})");
  Row ratio = suspect(), time = suspect("time_s");
  compare({&ratio, &time}, part());
  EXPECT_EQ(ratio.verdict, verdict::regression);
  EXPECT_EQ(time.verdict, verdict::drift) << "from its anchor, which is no loss since the base";
  EXPECT_FALSE(time.blocking);
}

TEST_F(Confirming, AWaiverHoldsForWhatIsConfirmed) {
  waive_times();
  const Row row = after(suspect("time_s"));
  EXPECT_EQ(row.verdict, verdict::waived);
  EXPECT_FALSE(row.blocking);
  EXPECT_THAT(row.sentence, HasSubstr("confirmed: A/B"));
}

TEST_F(Confirming, AMetricThatNoStepTellsKeepsScreeningsWord) {
  builds(1e-3);
  Part part = this->part();
  part.list.metrics["drain_s"] = {"time", Better::lower, "s"};
  const Row row = after(suspect("drain_s"), part);
  EXPECT_EQ(row.verdict, verdict::regression);
  EXPECT_THAT(notes_, ElementsAre(HasSubstr("a comparison times steps")));
}

TEST_F(Confirming, TheFolderToCompareWithIsThereAndAnother) {
  fs::create_directories(folder_.path() / "build" / "bin");
  EXPECT_EQ(base_folder("confirm", folder_.path() / "build", plan_.head),
            folder_.path() / "build" / "bin");
  EXPECT_THAT([&] { (void)base_folder("confirm", folder_.path() / "none", plan_.head); },
              ThrowsMessage<Error>(HasSubstr("there is no ")));
  EXPECT_THAT(
      [&] {
        (void)base_folder("confirm", folder_.path() / "build", folder_.path() / "build" / "bin");
      },
      ThrowsMessage<Error>(HasSubstr("is the build that is measured")));
}

}  // namespace
}  // namespace holdfast::gate
