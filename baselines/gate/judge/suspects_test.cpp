// SPDX-License-Identifier: Apache-2.0
// What all suspects of a part say together about the machine, and which are asked about.
#include "gate/judge/suspects.hpp"

#include <gmock/gmock.h>

#include <map>
#include <memory>
#include <set>

#include "gate/testing/judged_rows.hpp"

namespace holdfast::gate {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using toy::baseline_of;
using toy::judge;
using toy::part;
using toy::policy;
using toy::row;
using toy::verdicts;

// A host suite of `count` cases that are alike.
struct Many {
  Results results = toy::host();
  List list = toy::list();
  explicit Many(int count) {
    const CaseResult model = results.cases.front();
    const ListedCase listed = list.cases.front();
    results.cases.clear();
    list.cases.clear();
    for (int i = 0; i < count; ++i) {
      results.cases.push_back(model);
      list.cases.push_back(listed);
      results.cases.back().id = list.cases.back().id = text("toy/step/n:", 100 + i, "/f64");
    }
  }
  // A part of which one case after the other, from 0 on, changed so since it was accepted.
  Part changed(const std::function<void(CaseResult&, int)>& change) const {
    Part judged{.results = results, .list = list, .baseline = baseline_of(results)};
    int number = 0;
    for (CaseResult& result : judged.results.cases) change(result, number++);
    return judged;
  }
  // A part with so many speedups that fell by half, and references that moved as much.
  Part slower(int suspects, bool references_moved = true) const {
    return changed([&](CaseResult& result, int number) {
      if (number >= suspects) return;
      result.metrics["speedup"] = toy::timed("ratio", 5);
      if (references_moved)
        result.variants["reference"].metrics["time_s"] = toy::timed("time", 3e-3);
    });
  }
};

// The verdict after a second opinion that does so to each suspect.
PartVerdict judge_after(const Part& judged, const std::function<void(Row&)>& opinion) {
  return judge_part(judged, policy(), false, true,
                    [&](const std::vector<Row*>& suspects, std::vector<std::string>&) {
                      for (Row* suspect : suspects) opinion(*suspect);
                    });
}

// Identical code whose reference moved as much as its speedup.
PartVerdict moved_machine() {
  Results before = toy::host();
  for (CaseResult& result : before.cases) result.variants["optimized"].identity = "sha256:aa";
  Results now = before;
  toy::metric(now, "case", "speedup") = toy::timed("ratio", 8);
  toy::metric(now, "reference", "time_s") = toy::timed("time", 6e-3 * 0.8);
  return judge(part(now, before));
}

TEST(Suspects, IdenticalCodeAndAReferenceThatMovedAsMuchAreTheMachine) {
  const PartVerdict verdict = moved_machine();
  EXPECT_EQ(row(verdict, "speedup", "case").verdict, "ENV");
  EXPECT_EQ(verdict.exit, 0);
}

// A case without counts, whose ratio fell by a fifth while its reference changed by this factor.
Part fallen(double reference) {
  const Results before = toy::host();
  Results now = before;
  toy::metric(now, "case", "speedup") = toy::timed("ratio", 8);
  toy::metric(now, "reference", "time_s") = toy::timed("time", 6e-3 * reference);
  return part(now, before);
}
PartVerdict fallen_beside(double reference) {
  return judge(fallen(reference));
}

// Values of five processes of the base.
Measured five_times(double value) {
  return {.value = value, .processes = 5, .values = std::vector<double>(5, value)};
}

Beside beside_as_accepted() {
  return {.values = {{entry_key(toy::step_id, "case", "speedup"), five_times(10)},
                     {entry_key(toy::step_id, "reference", "time_s"), five_times(6e-3)}}};
}

TEST(Suspects, ARatioWhoseReferenceBecameFasterByItselfIsUndecidedWhereNothingIsCounted) {
  const PartVerdict verdict = fallen_beside(0.8);
  EXPECT_EQ(row(verdict, "speedup", "case").verdict, "NOISY");
  EXPECT_THAT(row(verdict, "speedup", "case").sentence,
              HasSubstr("undecided, because the reference became as much faster"));
  EXPECT_THAT(*row(verdict, "speedup", "case").next, HasSubstr("holdfast run"));
  EXPECT_EQ(verdict.exit, 4);
}

TEST(Suspects, ARatioOfTooFewProcessesIsUndecidedForThatAloneWhateverTheReferenceDid) {
  Part few = fallen(0.8);
  toy::metric(few.results, "case", "speedup").processes = {8, 8, 8};
  const Row judged = row(judge(few), "speedup", "case");
  EXPECT_EQ(judged.verdict, "NOISY");
  EXPECT_THAT(judged.sentence, testing::Not(HasSubstr("undecided, because the reference")));
}

TEST(Suspects, ARatioWhoseCaseIsCountedElsewhereIsNotExcusedInARunWithoutCounts) {
  for (const char* variant : {"optimized", "reference"}) {
    Part counted = fallen(0.8);
    counted.baseline->entries[entry_key(toy::step_id, variant, "instructions")].value = 1e6;
    EXPECT_EQ(row(judge(counted), "speedup", "case").verdict, "REGRESSION");
  }
}

TEST(Suspects, ARatioIsNotExcusedByAReferenceThatBecameFasterThanThatOfTheBaseBesideIt) {
  Part beside = fallen(0.8);
  beside.beside = beside_as_accepted();
  EXPECT_EQ(row(judge(beside), "speedup", "case").verdict, "REGRESSION");
}

TEST(Suspects, ARatioIsNotExcusedByAReferenceThatBecameALittleFaster) {
  EXPECT_EQ(row(fallen_beside(0.95), "speedup", "case").verdict, "REGRESSION");
  EXPECT_EQ(row(fallen_beside(1.2), "speedup", "case").verdict, "REGRESSION");
}

TEST(Suspects, ATimeThatRoseAsItsReferenceDidIsDecidedWhereNothingIsCounted) {
  const Results before = toy::host();
  Results now = before;
  toy::metric(now, "optimized", "time_s") = toy::timed("time", 9e-4);
  toy::metric(now, "reference", "time_s") = toy::timed("time", 9e-3);
  EXPECT_EQ(row(judge(part(now, before)), "time_s", "optimized").verdict, "WARN");
}

// A fallen ratio whose reference became as much faster, of code that has a hash before and now.
Part hashed(const char* optimized, const char* reference) {
  Part judged = fallen(0.8);
  Results before = toy::host();
  before.cases.front().variants["optimized"].identity = "sha256:aa";
  judged.results.cases.front().variants["optimized"].identity = optimized;
  if (reference) {
    before.cases.front().variants["reference"].identity = "sha256:bb";
    judged.results.cases.front().variants["reference"].identity = reference;
  }
  judged.baseline = baseline_of(before);
  return judged;
}

TEST(Suspects, CodeIsTheSameWhereThatOfBothVariantsIs) {
  EXPECT_EQ(row(judge(hashed("sha256:aa", "sha256:bb")), "speedup", "case").verdict, "ENV");
  for (const Part& other : {hashed("sha256:cc", "sha256:bb"), hashed("sha256:aa", "sha256:cc")})
    EXPECT_EQ(row(judge(other), "speedup", "case").verdict, "REGRESSION");
  Part unknown = hashed("sha256:aa", "sha256:bb");
  unknown.baseline->entries.erase(entry_key(toy::step_id, "reference", "identity"));
  EXPECT_EQ(row(judge(unknown), "speedup", "case").verdict, "REGRESSION");
}

// The same code before and now, of which a kernel of this variant was given 149 and is given `now`.
Part told(const char* variant, double now) {
  Part judged = hashed("sha256:aa", "sha256:bb");
  Results before = toy::host();
  for (auto& [name, content] : before.cases.front().variants)
    content.identity = name == "optimized" ? "sha256:aa" : "sha256:bb";
  const auto kernel = [](double sum) {
    return KernelRow{.name = "stage", .evidence = {{"argument_sum", sum}}};
  };
  before.cases.front().variants[variant].kernels = {kernel(149)};
  judged.results.cases.front().variants[variant].kernels = {kernel(now)};
  judged.baseline = baseline_of(before);
  return judged;
}

TEST(Suspects, TheSameCodeThatIsToldToDoMoreExcusesNothing) {
  for (const char* variant : {"optimized", "reference"})
    for (const int now : {149, 249})
      EXPECT_EQ(row(judge(told(variant, now)), "speedup", "case").verdict,
                now == 149 ? "ENV" : "REGRESSION");
}

TEST(Suspects, ARatioIsToldWithTheCodeOfTheOptimizedVariant) {
  EXPECT_EQ(row(judge(told("optimized", 249)), "speedup", "case").evidence.at("code"),
            "stage: argument_sum 149 -> 249");
}

TEST(Suspects, KernelsThatAreAcceptedAsANumberTellNothing) {
  Part judged = told("optimized", 149);
  judged.baseline->entries.at(entry_key(toy::step_id, "optimized", kernels_metric)).value = 3.0;
  EXPECT_EQ(row(judge(judged), "speedup", "case").verdict, "ENV");
}

TEST(Suspects, WhatTheMachineDidToTheSameCodeIsNoSuspect) {
  Many many(9);
  for (CaseResult& result : many.results.cases)
    for (auto& [variant, content] : result.variants) content.identity = "sha256:aa";
  const PartVerdict verdict = judge(many.slower(9));
  EXPECT_THAT(verdicts(verdict, "ENV"), testing::SizeIs(9));
  EXPECT_THAT(verdict.notes, IsEmpty());
}

TEST(Suspects, AReferenceIsNoControlOfItself) {
  Part judged = hashed("sha256:aa", "sha256:bb");
  toy::metric(judged.results, "case", "speedup") = toy::timed("ratio", 10);
  toy::metric(judged.results, "reference", "time_s") = toy::timed("time", 9e-3);
  EXPECT_EQ(row(judge(judged), "time_s", "reference").verdict, "WARN");
}

// What both variants share, such as the cost of a launch, may have changed.
TEST(Suspects, IdenticalCodeBesideABaseWhoseReferenceWasOtherwiseIsNotExcused) {
  Part judged = hashed("sha256:aa", "sha256:bb");
  judged.beside = beside_as_accepted();
  const PartVerdict verdict = judge(judged);
  EXPECT_EQ(row(verdict, "speedup", "case").verdict, "REGRESSION");
  EXPECT_THAT(row(verdict, "speedup", "case").evidence.at("control"),
              HasSubstr("-> it moved as much"));
  EXPECT_EQ(verdict.exit, 1);
}

// The accepted reference is of another hour than the base.
TEST(Suspects, BesideABaseWithoutItsReferenceARatioHasNoControl) {
  Part judged = hashed("sha256:aa", "sha256:bb");
  judged.beside = Beside{.values = {{entry_key(toy::step_id, "case", "speedup"), five_times(10)}}};
  EXPECT_EQ(row(judge(judged), "speedup", "case").verdict, "REGRESSION");
}

TEST(Suspects, WhatTheMachineDidIsMeasuredAgainAndNotAccepted) {
  EXPECT_THAT(*row(moved_machine(), "speedup", "case").next, HasSubstr("holdfast run"));
}

// A case whose speedup fell by a half, with the time of a hand-over between its threads.
Results with_handover(double seconds, double speedup) {
  Results results = toy::host();
  for (CaseResult& result : results.cases) result.metrics["handover_s"] = toy::timed("time", 50e-9);
  toy::metric(results, "case", "handover_s") = toy::timed("time", seconds);
  toy::metric(results, "case", "speedup") = toy::timed("ratio", speedup);
  return results;
}

TEST(Suspects, ThreadsThatStandFurtherApartLeaveATimeUndecided) {
  const Part apart = part(with_handover(350e-9, 5), with_handover(50e-9, 10));
  EXPECT_EQ(judge_part(apart, policy(), false, false).exit, 0) << "where undecided only warns";
  const PartVerdict verdict = judge(apart);
  EXPECT_EQ(verdict.exit, 4);
  EXPECT_EQ(row(verdict, "speedup", "case").verdict, "NOISY");
  EXPECT_THAT(row(verdict, "speedup", "case").evidence.at("handover"),
              HasSubstr("took 50 ns and takes 350 ns -> the machine"));
  EXPECT_EQ(row(verdict, "handover_s", "case").verdict, "ENV");
}

// A part that became half as fast again as the base beside it; between threads of each a hand-over
// took so long.
Part gain_beside(double here, double there) {
  Part judged = part(with_handover(here, 15), with_handover(50e-9, 10));
  judged.beside =
      Beside{.values = {{entry_key(toy::step_id, case_variant, "speedup"), five_times(10)},
                        {entry_key(toy::step_id, case_variant, "handover_s"), five_times(there)}}};
  return judged;
}

TEST(Suspects, ABaseWhoseThreadsStoodFurtherApartDecidesNothing) {
  EXPECT_EQ(row(judge(gain_beside(50e-9, 50e-9)), "speedup", "case").verdict, "IMPROVED");
  for (const double there : {350e-9, 20e-9}) {
    const PartVerdict verdict = judge(gain_beside(50e-9, there));
    EXPECT_EQ(row(verdict, "speedup", "case").verdict, "NOISY");
    EXPECT_THAT(row(verdict, "speedup", "case").sentence, HasSubstr("pairs decide nothing"));
    EXPECT_EQ(verdict.exit, 4);
  }
}

TEST(Suspects, AGainAgainstTheBaseOfThisHourLeavesTheDistanceFromTheAnchor) {
  Part judged = gain_beside(50e-9, 50e-9);
  judged.baseline->entries.at(entry_key(toy::step_id, case_variant, "speedup")).anchor = 20;
  EXPECT_EQ(row(judge(judged), "speedup", "case").verdict, "DRIFT");
}

TEST(Suspects, HandoversThatWaitForTheSchedulerTellOfNoDistance) {
  EXPECT_EQ(row(judge(gain_beside(50e-6, 200e-6)), "speedup", "case").verdict, "IMPROVED");
}

TEST(Suspects, ThreadsThatStandAsCloseExcuseNothing) {
  EXPECT_EQ(judge(part(with_handover(60e-9, 5), with_handover(50e-9, 10))).exit, 1);
  EXPECT_EQ(judge(part(with_handover(50e-9, 5), with_handover(60e-9, 10))).exit, 1);
}

TEST(Suspects, ThreadsThatStandCloserLeaveARatioUndecidedOfWhichTheReferenceMayHaveGained) {
  const PartVerdict verdict = judge(part(with_handover(50e-9, 5), with_handover(120e-9, 10)));
  EXPECT_EQ(verdict.exit, 4);
  EXPECT_EQ(row(verdict, "speedup", "case").verdict, "NOISY");
}

TEST(Suspects, ThreadsThatStandCloserExcuseNoTime) {
  Results now = with_handover(50e-9, 10);
  toy::metric(now, "optimized", "time_s") = toy::timed("time", 12e-4);
  const std::string rules =
      toy::policy_with(R"("time": {"gate": "warn")", R"("time": {"gate": "block")");
  const PartVerdict verdict =
      judge_part(part(now, with_handover(120e-9, 10)), policy(rules), false, true);
  EXPECT_EQ(row(verdict, "time_s", "optimized").verdict, "REGRESSION");
}

TEST(Suspects, AHandoverThatIsAcceptedAsATextTellsNothing) {
  Part judged = part(with_handover(350e-9, 5), with_handover(50e-9, 10));
  judged.baseline->entries.at(entry_key(toy::step_id, case_variant, "handover_s")).value = "x";
  EXPECT_EQ(row(judge(judged), "speedup", "case").verdict, "REGRESSION");
}

TEST(Suspects, ThreadsThatStandFurtherApartExcuseNoCount) {
  Results now = with_handover(350e-9, 10);
  toy::metric(now, "optimized", "peak_bytes") = toy::exact(8192);
  EXPECT_EQ(judge(part(now, with_handover(50e-9, 10))).exit, 1);
}

// A case with this speedup, on cores that others shared.
Results on_shared_cores(double speedup) {
  Results results = with_handover(50e-9, speedup);
  results.cases.front().metrics[shared_metric] = {.kind = "advisory", .value = 1};
  return results;
}

TEST(Suspects, SharedCoresLeaveALossUndecidedThatTheyCanExplain) {
  const Results before = with_handover(50e-9, 10);
  const PartVerdict verdict = judge(part(on_shared_cores(7), before));
  EXPECT_EQ(verdict.exit, 4);
  EXPECT_EQ(row(verdict, "speedup", "case").verdict, "NOISY");
  EXPECT_THAT(row(verdict, "speedup", "case").evidence.at("cores"), HasSubstr("-> the machine"));
  EXPECT_EQ(judge(part(with_handover(50e-9, 7), before)).exit, 1);
}

TEST(Suspects, SharedCoresAreNamedWhereProcessesDisagreeAboutABound) {
  Results now = on_shared_cores(10);
  toy::metric(now, "case", "speedup").processes = {2, 10, 10, 10, 10};
  const std::string rules =
      toy::policy_with(toy::launches_bound, R"("metric": "speedup", "bound": {"min": 5)");
  const PartVerdict verdict =
      judge_part(part(now, with_handover(50e-9, 10)), policy(rules), false, true);
  EXPECT_EQ(row(verdict, "speedup", "case").verdict, "NOISY");
  EXPECT_TRUE(row(verdict, "speedup", "case").evidence.contains("cores"));
}

TEST(Suspects, SharedCoresAreNotNamedWhereTooFewProcessesCount) {
  Results now = on_shared_cores(9);
  toy::metric(now, "case", "speedup").processes = {9, 9, 9};
  const PartVerdict verdict = judge(part(now, with_handover(50e-9, 10)));
  EXPECT_EQ(row(verdict, "speedup", "case").verdict, "NOISY");
  EXPECT_FALSE(row(verdict, "speedup", "case").evidence.contains("cores"));
}

TEST(Suspects, SharedCoresExcuseNoLossThatIsMoreThanTheyTake) {
  EXPECT_EQ(judge(part(on_shared_cores(4.9), with_handover(50e-9, 10))).exit, 1);
}

TEST(Suspects, AReferenceThatMovedDoesNotExcuseChangedCode) {
  Results before = toy::host();
  for (CaseResult& result : before.cases) result.variants["optimized"].identity = "sha256:aa";
  Results now = before;
  now.cases.front().variants["optimized"].identity = "sha256:cc";
  toy::metric(now, "case", "speedup") = toy::timed("ratio", 8);
  toy::metric(now, "reference", "time_s") = toy::timed("time", 6e-3 * 0.8);
  EXPECT_EQ(judge(part(now, before)).exit, 1);
}

TEST(Suspects, ManySuspectsWhoseReferencesMovedAreTheEnvironment) {
  const PartVerdict verdict = judge(Many(6).slower(4));
  EXPECT_EQ(verdict.exit, 0);
  EXPECT_THAT(verdict.notes, testing::Contains(HasSubstr("the environment moved: 4 of 6 cases")));
  EXPECT_EQ(verdict.times.unheld, 4);
  EXPECT_EQ(judge_part(Many(6).slower(4), policy(toy::policy_text), true, true).exit, 3);
}

TEST(Suspects, ManySuspectsWhoseReferencesStayedAreRegressions) {
  const PartVerdict verdict = judge(Many(6).slower(4, false));
  EXPECT_EQ(verdict.exit, 1);
  EXPECT_THAT(verdict.notes, IsEmpty());
}

TEST(Suspects, OneWhoseReferenceStayedIsNotExcusedWithTheOthers) {
  Part judged = Many(6).slower(4);
  judged.results.cases[4].metrics["speedup"] = toy::timed("ratio", 5);
  const PartVerdict verdict = judge(judged);
  EXPECT_THAT(verdict.notes, testing::Contains(HasSubstr("the environment moved: 4 of 6 cases")));
  EXPECT_THAT(verdicts(verdict, "REGRESSION"), testing::ElementsAre("toy/step/n:104/f64 speedup"));
  EXPECT_EQ(verdict.exit, 1);
}

TEST(Suspects, AThirdOfTheCasesIsNotYetTheEnvironment) {
  EXPECT_EQ(judge(Many(12).slower(4)).exit, 4);
  EXPECT_EQ(judge(Many(11).slower(4)).exit, 0);
}

TEST(Suspects, ThreeSuspectsAreNotYetTheEnvironment) {
  EXPECT_EQ(judge(Many(6).slower(3)).exit, 4);
}

TEST(Suspects, TimesThatMovedEverywhereDoNotExcuseASpeedupThatFellAlone) {
  const PartVerdict verdict = judge(Many(6).changed([](CaseResult& result, int number) {
    result.variants["reference"].metrics["time_s"] = toy::timed("time", 6e-3 * 1.2);
    result.variants["optimized"].metrics["time_s"] = toy::timed("time", 6e-4 * 1.2);
    if (number == 0) result.metrics["speedup"] = toy::timed("ratio", 5);
  }));
  EXPECT_THAT(verdict.notes, testing::Contains(HasSubstr("the environment moved: 6 of 6 cases")));
  EXPECT_THAT(verdicts(verdict, "REGRESSION"), testing::ElementsAre("toy/step/n:100/f64 speedup"));
  EXPECT_EQ(verdict.exit, 1);
}

// Their references might explain them, but for the others.
TEST(Suspects, TimesThatMovedEverywhereExcuseNoSpeedup) {
  const PartVerdict verdict = judge(Many(6).changed([](CaseResult& result, int number) {
    result.variants["reference"].metrics["time_s"] = toy::timed("time", 6e-3 * 1.2);
    result.variants["optimized"].metrics["time_s"] = toy::timed("time", 6e-4 * 1.2);
    if (number == 0) result.metrics["speedup"] = toy::timed("ratio", 8.5);
  }));
  EXPECT_THAT(verdict.notes, testing::Contains(HasSubstr("the environment moved: 6 of 6 cases")));
  EXPECT_THAT(verdicts(verdict, "REGRESSION"), testing::ElementsAre("toy/step/n:100/f64 speedup"));
  EXPECT_EQ(verdict.exit, 1);
}

TEST(Suspects, ThePolicySaysHowManySuspectsAreTheMachine) {
  const Part judged = Many(20).slower(5);
  EXPECT_EQ(judge(judged).exit, 4);
  const std::string fewer = toy::policy_with(R"("rules")", R"("most_suspects": 4, "rules")");
  const PartVerdict verdict = judge_part(judged, policy(fewer), false, true);
  EXPECT_EQ(verdict.exit, 0);
  EXPECT_THAT(verdict.notes, testing::ElementsAre(HasSubstr("the environment moved: 5 of 20")));
}

TEST(Suspects, ThirteenSuspectsAreTheMachineByDefault) {
  EXPECT_EQ(judge(Many(60).slower(12)).exit, 4);
  EXPECT_EQ(judge(Many(60).slower(13)).exit, 0);
}

// Six cases whose optimized variants take a tenth longer, and their references a fifth.
Part all_slower() {
  return Many(6).changed([](CaseResult& result, int) {
    result.variants["reference"].metrics["time_s"] = toy::timed("time", 6e-3 * 1.2);
    result.variants["optimized"].metrics["time_s"] = toy::timed("time", 6e-4 * 1.1);
  });
}

// The verdict after a second opinion that does so to each row, and the variants that it is asked
// about first.
std::pair<PartVerdict, std::vector<std::string>> all_slower_after(
    const std::function<void(Row&)>& opinion) {
  std::vector<std::string> first;
  const PartVerdict verdict = judge_after(all_slower(), [&](Row& suspect) {
    if (first.size() < 3) first.push_back(suspect.variant);
    opinion(suspect);
  });
  return {verdict, first};
}

TEST(Suspects, BeforeManyAreTheMachinesThoseAreComparedThatCanBe) {
  const auto [verdict, first] = all_slower_after([](Row& row) {
    row.evidence[confirmation_evidence] = "found";
    row.verdict = verdict::pass;
  });
  EXPECT_THAT(first, testing::Each("optimized"));
  EXPECT_THAT(verdict.notes, testing::Contains(HasSubstr("the environment moved: 6 of 6 cases")));
  const auto confirmed = all_slower_after([](Row& row) {
    if (row.variant == "reference") return;
    row.evidence[confirmation_evidence] = "found";
    row.verdict = verdict::regression;
    row.blocking = true;
  });
  EXPECT_EQ(confirmed.first.exit, 1);
  EXPECT_THAT(verdicts(confirmed.first, "ENV"), testing::IsEmpty());
}

// What is asked about at a time: the cases, with one entry for each row.
std::vector<std::vector<std::string>> asked_in_turn(const Part& judged) {
  std::vector<std::vector<std::string>> asked;
  (void)judge_part(judged, policy(), false, true,
                   [&](const std::vector<Row*>& suspects, std::vector<std::string>&) {
                     std::vector<std::string>& rows = asked.emplace_back();
                     for (const Row* suspect : suspects)
                       if (suspect->variant != "reference") rows.push_back(suspect->case_id);
                   });
  return asked;
}

TEST(Suspects, BeforeManyAreTheMachinesThreeCasesAreComparedEachWithAllItsRows) {
  const auto asked = asked_in_turn(Many(6).changed([](CaseResult& result, int) {
    result.metrics["speedup"] = toy::timed("ratio", 5);
    result.variants["reference"].metrics["time_s"] = toy::timed("time", 3e-3);
    result.variants["optimized"].metrics["time_s"] = toy::timed("time", 9e-4);
  }));
  ASSERT_FALSE(asked.empty());
  EXPECT_THAT(asked.front(), testing::SizeIs(6));
  EXPECT_THAT(std::set(asked.front().begin(), asked.front().end()), testing::SizeIs(3));
  std::map<std::string, int> turns;
  for (const auto& rows : asked)
    for (const std::string& case_id : std::set(rows.begin(), rows.end())) ++turns[case_id];
  for (const auto& [case_id, count] : turns) EXPECT_EQ(count, 1) << case_id;
}

TEST(Suspects, OneThatAComparisonConfirmsExcusesNoneThoughOthersAreCleared) {
  int asked = 0;
  const PartVerdict verdict = all_slower_after([&](Row& row) {
                                row.evidence[confirmation_evidence] = "found";
                                row.verdict = ++asked == 2 ? verdict::regression : verdict::pass;
                                row.blocking = asked == 2;
                              }).first;
  EXPECT_THAT(verdict.notes, testing::Not(testing::Contains(HasSubstr("the environment moved"))));
  EXPECT_EQ(verdict.exit, 1);
}

TEST(Suspects, OneThatAComparisonLeavesUndecidedIsNotExcusedWithTheOthers) {
  int asked = 0;
  const PartVerdict verdict = all_slower_after([&](Row& row) {
                                row.evidence[confirmation_evidence] = "found";
                                row.verdict = ++asked == 2 ? verdict::noisy : verdict::pass;
                                row.blocking = asked == 2;
                              }).first;
  EXPECT_THAT(verdict.notes, testing::Contains(HasSubstr("the environment moved")));
  EXPECT_EQ(verdict.exit, 4);
}

TEST(Suspects, ManySuspectsOfWhichNoComparisonClearedOneAreNotTheMachines) {
  const auto undecided = [](Row& row) {
    row.evidence[confirmation_evidence] = "found";
    row.verdict = verdict::noisy;
  };
  const auto passes_uncompared = [](Row& row) { row.verdict = verdict::pass; };
  for (const std::function<void(Row&)>& opinion :
       {std::function<void(Row&)>([](Row&) {}), {undecided}, {passes_uncompared}}) {
    const PartVerdict verdict = all_slower_after(opinion).first;
    EXPECT_THAT(verdicts(verdict, "ENV"), testing::IsEmpty());
    EXPECT_THAT(verdict.notes, testing::Contains(testing::AllOf(
                                   HasSubstr("6 of 6 cases of toy on host-x86_64-v4-2t are"),
                                   HasSubstr("no comparison cleared one: none is excused"))));
  }
}

// A base beside it had the same machine, which explains no difference from it.
TEST(Suspects, ManySuspectsBesideABaseAreUndecidedUnlessTheyAreCompared) {
  Part judged = Many(20).slower(15);
  judged.beside.emplace();
  for (const CaseResult& result : judged.results.cases) {
    judged.beside->values[entry_key(result.id, case_variant, "speedup")] = five_times(10);
    judged.beside->values[entry_key(result.id, "reference", "time_s")] = five_times(6e-3);
  }
  int left = 3;
  const auto clears_three = [&](const std::vector<Row*>& suspects, std::vector<std::string>&) {
    for (Row* suspect : suspects)
      if (left-- > 0) {
        suspect->evidence[confirmation_evidence] = "found";
        suspect->verdict = verdict::pass;
        suspect->blocking = false;
      }
  };
  const PartVerdict verdict = judge_part(judged, policy(), false, true, clears_three);
  EXPECT_EQ(verdict.exit, 4);
  EXPECT_THAT(verdicts(verdict, "NOISY"), testing::SizeIs(12));
  EXPECT_THAT(verdict.notes, testing::Contains(HasSubstr("are undecided unless compared")));
  left = 3;
  EXPECT_EQ(judge_part(judged, policy(), false, false, clears_three).exit, 0);
}

// The speedup's row after a second opinion that does so.
Row after_opinion(const std::function<void(Row&)>& opinion) {
  Results slower = toy::host();
  toy::metric(slower, "case", "speedup") = toy::timed("ratio", 9.2);
  return row(judge_after(part(slower, toy::host()), opinion), "speedup", "case");
}

TEST(Suspects, ASuspectThatNoComparisonLookedAtResolvesNoMoreThanScreening) {
  Results slower = toy::host();
  toy::metric(slower, "case", "speedup") = toy::timed("ratio", 9.2);
  const double screening =
      row(judge(part(slower, toy::host())), "speedup", "case").resolution.value();
  EXPECT_EQ(after_opinion([](Row&) {}).resolution, screening);
  const Row compared = after_opinion([&](Row& suspect) {
    EXPECT_LT(*suspect.resolution, screening);
    suspect.evidence[confirmation_evidence] = "found";
    suspect.resolution = 0.031;
  });
  EXPECT_EQ(compared.resolution, 0.031);
}

TEST(Suspects, WhatAComparisonConfirmedIsNotDoubtedForWhereThreadsStood) {
  const PartVerdict verdict =
      judge_after(part(with_handover(350e-9, 5), with_handover(50e-9, 10)),
                  [](Row& suspect) { suspect.evidence[confirmation_evidence] = "found"; });
  EXPECT_EQ(row(verdict, "speedup", "case").verdict, "REGRESSION");
  EXPECT_EQ(verdict.exit, 1);
}

TEST(Suspects, WhatASecondOpinionCouldNotCompareIsDoubtedForWhereThreadsStood) {
  const PartVerdict verdict =
      judge_after(part(with_handover(350e-9, 5), with_handover(50e-9, 10)), [](Row&) {});
  EXPECT_EQ(row(verdict, "speedup", "case").verdict, "NOISY");
  EXPECT_EQ(verdict.exit, 4);
}

TEST(Suspects, TheLargestLossIsComparedFirst) {
  const double speedups[] = {9, 5, 7};
  const Part judged = Many(3).changed([&](CaseResult& result, int number) {
    result.metrics["speedup"] = toy::timed("ratio", speedups[number]);
  });
  std::vector<std::string> asked;
  (void)judge_after(judged, [&](const Row& suspect) { asked.push_back(suspect.case_id); });
  EXPECT_THAT(asked, testing::ElementsAre("toy/step/n:101/f64", "toy/step/n:102/f64",
                                          "toy/step/n:100/f64"));
}

// The resolutions of this metric in three cases, of which the first is suspect and its comparison
// could have shown so much.
std::vector<std::optional<double>> resolutions_where_compared(
    std::optional<double> shown, const std::string& metric = "speedup") {
  const Part judged = Many(3).changed([](CaseResult& result, int number) {
    if (number == 0) result.metrics["speedup"] = toy::timed("ratio", 9.2);
  });
  const PartVerdict verdict = judge_after(judged, [&](Row& suspect) {
    suspect.evidence[confirmation_evidence] = "found";
    suspect.resolution = shown;
  });
  std::vector<std::optional<double>> found;
  for (const Row& one : verdict.rows)
    if (one.metric == metric && one.variant != "reference") found.push_back(one.resolution);
  return found;
}

TEST(Suspects, WhatWasNotComparedResolvesNoMoreThanWhatWasAndNoLessThanScreening) {
  const double screening =
      row(judge(part(toy::host(), toy::host())), "speedup", "case").resolution.value();
  const double usual = resolutions_where_compared(0.03)[1].value();
  EXPECT_LT(usual, screening);
  const double between = (usual + screening) / 2;
  EXPECT_THAT(resolutions_where_compared(between), testing::ElementsAre(between, between, between));
  EXPECT_THAT(resolutions_where_compared(9), testing::ElementsAre(9, screening, screening));
}

// For a time, which only warns until it is compared, screening gives no resolution.
TEST(Suspects, WhatWasNotComparedResolvesNothingWhereNoComparisonCouldHaveShownAnything) {
  const double screening =
      row(judge(part(toy::host(), toy::host())), "speedup", "case").resolution.value();
  EXPECT_THAT(resolutions_where_compared({}),
              testing::ElementsAre(std::nullopt, screening, screening));
  EXPECT_TRUE(resolutions_where_compared(0.03, "time_s")[1].has_value());
  EXPECT_EQ(resolutions_where_compared({}, "time_s")[1], std::nullopt);
}

// What a second opinion is asked about, and the exit code afterwards.
std::pair<std::vector<std::string>, int> asked_about(const Part& judged) {
  std::vector<std::string> asked;
  const PartVerdict verdict =
      judge_after(judged, [&](const Row& suspect) { asked.push_back(suspect.metric); });
  return {asked, verdict.exit};
}

// Of a speedup, 4 % below the base beside it.
TEST(Suspects, WhatOnlyTheChangesOwnRuleFindsWorthComparingIsAskedAbout) {
  Part judged = part(toy::host(), toy::host());
  toy::metric(judged.results, "case", "speedup") = toy::timed("ratio", 9.6);
  judged.beside = beside_as_accepted();
  const std::string laxer = toy::policy_with(
      R"("rules": [)", R"("rules": [{"match": "toy/**", "metric": "speedup", "tolerance": 0.2},)");
  const Policy held = policy().held_to({.policy = std::make_shared<const Policy>(policy(laxer)),
                                        .values = {text(toy::step_id, "|speedup")}});
  std::vector<std::string> asked;
  (void)judge_part(judged, held, false, true,
                   [&](const std::vector<Row*>& suspects, std::vector<std::string>&) {
                     for (const Row* suspect : suspects) asked.push_back(suspect->metric);
                   });
  EXPECT_THAT(asked, testing::ElementsAre("speedup"));
}

TEST(Suspects, OnlyWhatHasPositiveNumbersOnBothSidesCanBeConfirmed) {
  Results slower = toy::host();
  toy::metric(slower, "case", "speedup") = toy::timed("ratio", 5);
  EXPECT_EQ(asked_about(part(slower, toy::host())),
            std::pair(std::vector<std::string>{"speedup"}, 1));
  Results nothing = toy::host();
  toy::metric(nothing, "case", "speedup") = toy::timed("ratio", 0);
  EXPECT_EQ(asked_about(part(nothing, toy::host())), std::pair(std::vector<std::string>{}, 4));
  for (const Value& accepted : {Value(0.), Value("sha256:aa")}) {
    Part judged = part(toy::host(), toy::host());
    judged.baseline->entries.at(entry_key(toy::step_id, case_variant, "speedup")).value = accepted;
    EXPECT_EQ(asked_about(judged), std::pair(std::vector<std::string>{}, 4));
  }
}

}  // namespace
}  // namespace holdfast::gate
