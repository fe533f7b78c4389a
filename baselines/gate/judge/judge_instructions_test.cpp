// SPDX-License-Identifier: Apache-2.0
// Counts of instructions, which not every run measures, as the gate judges them.
#include <gmock/gmock.h>

#include "gate/accept/accept.hpp"
#include "gate/documents/unrequested.hpp"
#include "gate/judge/part.hpp"
#include "gate/testing/judged_rows.hpp"

namespace holdfast::gate {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

using toy::row;

// A counted host, with the policy's row for such a metric.
struct Counted {
  Results results = toy::host();
  List list = toy::list();
  Counted() {
    list.metrics["instructions"] = list.metrics[cycles_metric] = {"exact"};
    for (ListedCase& listed : list.cases) listed.devices["host"].push_back("instructions");
    count(1'000'000);
  }
  void count(std::optional<double> instructions) {
    for (CaseResult& result : results.cases)
      for (auto& [variant, content] : result.variants)
        content.metrics["instructions"] = instructions
                                              ? toy::exact(*instructions)
                                              : Metric{.kind = "exact", .reason = not_asked_for};
  }
  // Removes the counts from all cases, for this reason.
  void blank(const std::string& reason) {
    for (CaseResult& result : results.cases)
      for (auto& [variant, content] : result.variants)
        content.metrics["instructions"] = {.kind = "exact", .reason = reason};
  }
  // Moves the step's speedup, and its reference as much.
  void move_with_its_reference() {
    toy::metric(results, "case", "speedup") = toy::timed("ratio", 8);
    toy::metric(results, "reference", "time_s") = toy::timed("time", 6e-3 * 0.8);
  }
  static std::string policy_text() {
    return toy::policy_with(R"("identity":)",
                            R"("instructions": {"tolerance": 0.005, "patch_tolerance": 0.02,
                        "same": ["compiler"], "on_request": "--count-instructions"}, "identity":)");
  }
  static Policy policy(const std::string& content = policy_text()) {
    return toy::policy(content).with(Counted().list.metrics);
  }
  Baseline accepted() const {
    return seen_on(toy::processor, accept(results, std::nullopt, policy()).baseline);
  }
  PartVerdict against(const Counted& before, std::optional<Baseline> proposed = {},
                      const Policy& by = policy()) const {
    return judge_part({.results = results,
                       .list = list,
                       .baseline = before.accepted(),
                       .proposed = std::move(proposed),
                       .directory = "results"},
                      by, false, true);
  }
};

TEST(Instructions, OnePercentMoreIsARegressionAndATenthOfItIsNoNews) {
  Counted now;
  now.count(1'010'000);
  EXPECT_EQ(row(now.against({}), "instructions").verdict, "REGRESSION");
  now.count(1'001'000);
  EXPECT_EQ(row(now.against({}), "instructions").verdict, "PASS");
}

TEST(Instructions, AnotherPatchLevelHasATolerance) {
  Counted now;
  now.results.env.compiler = "g++ 12.3.0";
  now.count(1'015'000);
  EXPECT_EQ(row(now.against({}), "instructions").verdict, "PASS");
  now.count(1'030'000);
  EXPECT_EQ(row(now.against({}), "instructions").verdict, "REGRESSION");
}

TEST(Instructions, AnotherPatchLevelIsTheEnvironmentWhereItHasNoTolerance) {
  Counted now;
  now.results.env.compiler = "g++ 12.3.0";
  now.count(1'030'000);
  std::string rules = Counted::policy_text();
  const std::string tolerance = R"("patch_tolerance": 0.02,)";
  rules.erase(rules.find(tolerance), tolerance.size());
  EXPECT_EQ(row(now.against({}, {}, Counted::policy(rules)), "instructions").verdict, "ENV");
}

TEST(Instructions, AnotherCompilerIsTheEnvironment) {
  Counted now;
  now.results.env.compiler = "g++ 13.1.0";
  now.count(1'030'000);
  EXPECT_EQ(row(now.against({}), "instructions").verdict, "ENV");
  EXPECT_EQ(now.against({}).exit, 0);
}

TEST(Instructions, ThatNobodyAskedForAreToldAndNotMissing) {
  Counted now;
  now.count({});
  const PartVerdict verdict = now.against({});
  EXPECT_EQ(verdict.exit, 0);
  EXPECT_THAT(verdict.not_checked, testing::ElementsAre(HasSubstr("--count-instructions")));
  EXPECT_EQ(verdict.unrequested.at("instructions"), 4u);
  for (const Row& one : verdict.rows) EXPECT_NE(one.verdict, "SKIPPED") << one.sentence;
}

TEST(Instructions, ThatAreBlankForAnyOtherReasonAreMissing) {
  Counted now;
  for (const char* reason : {"there is no such reading", "no reason given", "valgrind is slow",
                             "was not asked for it", "needs valgrind"}) {
    now.blank(reason);
    const PartVerdict verdict = now.against({});
    EXPECT_EQ(verdict.exit, 3) << reason;
    EXPECT_EQ(row(verdict, "instructions").verdict, "MISSING");
    EXPECT_THAT(row(verdict, "instructions").sentence,
                AllOf(HasSubstr("has an accepted value"), HasSubstr(reason)));
    EXPECT_FALSE(refusals(now.results, now.list, Counted::policy(), true).empty()) << reason;
  }
}

TEST(Instructions, ThatNobodyAskedForAndNobodyAcceptedAreNoCaveat) {
  Counted now;
  now.count({});
  EXPECT_TRUE(now.against(now).unrequested.empty());
}

// A bound holds without a baseline.
TEST(Instructions, ThatNobodyAskedForAndABoundWouldHoldAreACaveat) {
  Counted now;
  now.count({});
  std::string bounded = Counted::policy_text();
  bounded.insert(bounded.find("{\"match\""),
                 R"({"match": "toy/step/**", "variant": "optimized", "metric": "instructions",
                     "bound": {"max": 5, "source": "a toy's bound"}}, )");
  const PartVerdict verdict = now.against(now, {}, Counted::policy(bounded));
  EXPECT_EQ(verdict.exit, 0);
  EXPECT_EQ(verdict.unrequested.at("instructions"), 1u);
}

TEST(Instructions, ThatNoEntryHasYetAreNew) {
  Counted before;
  before.count({});
  const PartVerdict verdict = Counted().against(before);
  EXPECT_EQ(row(verdict, "instructions").verdict, "NEW");
  EXPECT_EQ(verdict.exit, 0);
}

TEST(Instructions, ThatOtherCasesHaveInTheBaselineMustBeAccepted) {
  Counted before;
  before.count({});
  before.results.cases.back().variants["optimized"].metrics["instructions"] = toy::exact(1e6);
  EXPECT_EQ(Counted().against(before).exit, 3);
}

TEST(Instructions, ThatOtherCasesHaveInWhatTheChangeAcceptsMustBeAcceptedToo) {
  Counted before;
  before.count({});
  Counted change;
  change.count({});
  change.results.cases.back().variants["optimized"].metrics["instructions"] = toy::exact(1e6);
  EXPECT_EQ(Counted().against(before, change.accepted()).exit, 3);
}

TEST(Instructions, WithoutValgrindAreNotToBeAskedForWithIt) {
  Counted now;
  now.blank(text("--count-instructions-if-possible", lacks_valgrind, "; install it"));
  EXPECT_THAT(
      now.against({}).not_checked,
      testing::ElementsAre(AllOf(HasSubstr("needs valgrind, and there is none in PATH; install it"),
                                 Not(HasSubstr("measure with")))));
}

TEST(Instructions, ThatOneCaseAloneLacksAreMissing) {
  for (const char* reason : {"there is no such reading", not_asked_for}) {
    Counted now;
    now.results.cases.back().variants["optimized"].metrics["instructions"] = {.kind = "exact",
                                                                              .reason = reason};
    EXPECT_EQ(now.against({}).exit, 3) << reason;
  }
}

TEST(Instructions, ThatAreGoneFromTheResultsAreMissing) {
  Counted now;
  for (CaseResult& result : now.results.cases)
    for (auto& [variant, content] : result.variants) content.metrics.erase("instructions");
  EXPECT_EQ(now.against({}).exit, 3);
}

TEST(Instructions, ThatAreTheSameTellThatTheHostsCodeIs) {
  Counted now;
  now.results.env.isa = "x86-64-v3";
  now.move_with_its_reference();
  EXPECT_EQ(row(now.against({}), "speedup", "case").verdict, "ENV");
  now.count(1'001'000);
  EXPECT_EQ(row(now.against({}), "speedup", "case").verdict, "REGRESSION");
}

TEST(Instructions, OfOtherCodeThanWasTimedLeaveALossBesideItsReferenceUndecided) {
  Counted now;
  now.results.env.isa = "x86-64-v4";
  now.move_with_its_reference();
  const PartVerdict verdict = now.against({});
  EXPECT_EQ(row(verdict, "speedup", "case").verdict, "NOISY");
  EXPECT_EQ(verdict.exit, 4);
  EXPECT_THAT(row(verdict, "speedup", "case").evidence.at("code"),
              HasSubstr("the same instructions in the x86-64-v3 code, which tells little of the "
                        "x86-64-v4 code"));
  now.count(1'020'000);
  EXPECT_EQ(row(now.against({}), "speedup", "case").verdict, "REGRESSION");
}

TEST(Instructions, ThatWalkTheirDataInAnotherOrderAreNoSameCode) {
  Counted before;
  toy::metric(before.results, "optimized", cycles_metric) = toy::exact(1.5e6);
  before.results.env.isa = "x86-64-v3";
  Counted now = before;
  now.move_with_its_reference();
  EXPECT_EQ(row(now.against(before), "speedup", "case").verdict, "ENV");
  for (const double cycles : {3e6, 0.5e6}) {
    toy::metric(now.results, "optimized", cycles_metric) = toy::exact(cycles);
    EXPECT_EQ(row(now.against(before), "speedup", "case").verdict, "REGRESSION");
  }
}

TEST(Instructions, WhoseCyclesMoveWithinTheirLimitOrAreNewAreTheSameCode) {
  Counted before;
  before.results.env.isa = "x86-64-v3";
  Counted now = before;
  now.move_with_its_reference();
  toy::metric(now.results, "optimized", cycles_metric) = toy::exact(1.5e6);
  EXPECT_EQ(row(now.against(before), "speedup", "case").verdict, "ENV") << "no entry yet";
  std::string tolerant = Counted::policy_text();
  tolerant.insert(tolerant.find(R"("identity":)"),
                  text('"', cycles_metric, R"(": {"tolerance": 0.1}, )"));
  toy::metric(before.results, "optimized", cycles_metric) = toy::exact(1.45e6);
  EXPECT_EQ(row(now.against(before, {}, Counted::policy(tolerant)), "speedup", "case").verdict,
            "ENV");
}

TEST(Instructions, OfOtherCodeThanWasTimedNeverPassALossBesideAnIdentity) {
  Counted now;
  now.results.env.isa = "x86-64-v4";
  CaseResult& first = now.results.cases.front();
  for (auto& [variant, content] : first.variants) content.identity = "sha256:aa";
  first.variants["reference"].metrics.erase("instructions");
  const Counted before = now;
  now.move_with_its_reference();
  EXPECT_EQ(row(now.against(before), "speedup", "case").verdict, "NOISY");
}

TEST(Instructions, OfAnotherPatchLevelAreRenewedWhenTheyAreAccepted) {
  Counted now;
  now.results.env.compiler = "g++ 12.3.0";
  now.results.run.id = "2026-11-22T12:00:00Z-0001";
  now.count(1'015'000);
  const std::optional<Baseline> before =
      accept(Counted().results, std::nullopt, Counted::policy()).baseline;
  const Acceptable accepted = accept(now.results, before, Counted::policy());
  const std::string key = std::string(toy::step_id) + "|optimized|instructions";
  EXPECT_EQ(accepted.baseline.entries.at(key).value, Value(1'015'000.0));
  for (const Change& change : accepted.changes) EXPECT_EQ(change.asks_why, "") << change.key;
  now.count(1'030'000);
  const Acceptable worse = accept(now.results, before, Counted::policy());
  ASSERT_FALSE(worse.changes.empty());
  for (const Change& change : worse.changes) EXPECT_EQ(change.asks_why, "worse") << change.key;
}

TEST(Instructions, ThatNobodyAskedForStayAsTheyWereAccepted) {
  Counted now;
  now.results.run.id = "2026-11-22T12:00:00Z-0001";
  now.count({});
  const std::optional<Baseline> before =
      accept(Counted().results, std::nullopt, Counted::policy()).baseline;
  const Acceptable accepted = accept(now.results, before, Counted::policy());
  const std::string key = std::string(toy::step_id) + "|optimized|instructions";
  EXPECT_EQ(accepted.baseline.entries.at(key).value, Value(1'000'000.0));
  EXPECT_TRUE(accepted.changes.empty());
}

}  // namespace
}  // namespace holdfast::gate
