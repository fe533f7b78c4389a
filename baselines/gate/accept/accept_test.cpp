// SPDX-License-Identifier: Apache-2.0
#include "gate/accept/accept.hpp"

#include <gmock/gmock.h>

#include "gate/accept/listed.hpp"
#include "gate/accept/prune.hpp"
#include "gate/accept/ratchet.hpp"
#include "gate/base/patch.hpp"
#include "gate/documents/measured_part.hpp"
#include "gate/judge/loosening.hpp"
#include "gate/judge/screening.hpp"
#include "gate/testing/toy_root.hpp"

namespace holdfast::gate {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* speedup_key = "toy/step/n:64/f64|case|speedup";
constexpr const char* launches_key = "toy/step/n:64/f64|optimized|launches";

using toy::policy;

// The processor's view after accepting `runs` one after the other, on as many days.
Baseline after(const std::vector<Results>& runs, const std::string& why = "") {
  std::optional<Baseline> baseline;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    Results run = runs[i];
    run.run.id = text("2026-11-", 10 + i, "T12:00:00Z-", i);
    baseline = accept(run, baseline, policy(), {.why = why}).baseline;
  }
  return seen_on(toy::processor, *baseline);
}

Results with_speedup(double value) {
  Results results = toy::host();
  toy::metric(results, "case", "speedup") = toy::timed("ratio", value);
  return results;
}

Results with_launches(double value) {
  Results results = toy::dry();
  toy::metric(results, "optimized", "launches") = toy::exact(value);
  return results;
}

std::vector<std::string> reasons(const Results& results, bool counts_only = false) {
  std::vector<std::string> found;
  for (const Refusal& refusal : refusals(results, toy::list(), policy(), false, counts_only))
    found.push_back(refusal.why);
  return found;
}

TEST(Acceptance, AnAgreeingRunJoinsTheEntryAndKeepsItsReason) {
  const Entry entry =
      after({with_speedup(10), with_speedup(10.2), with_speedup(10.4)}).entries.at(speedup_key);
  EXPECT_THAT(entry.medians, ElementsAre(10, 10.2, 10.4));
  EXPECT_EQ(entry.value, Value(10.2));
  EXPECT_EQ(entry.anchor, 10);
  EXPECT_EQ(entry.days, 3);
  EXPECT_EQ(entry.accepted.why, "first baseline");
  EXPECT_TRUE(entry.bootstrap);
}

// Results of a machine on which nothing can be timed.
Results of_a_busy_machine() {
  Results results = with_speedup(100);
  toy::metric(results, "optimized", "peak_bytes") = toy::exact(4000);
  toy::metric(results, "case", "speedup").processes.clear();
  results.quality = {.valid = false, .reasons = {"the hypervisor kept the CPUs for 40 %"}};
  return results;
}

TEST(Acceptance, CountsAloneAreTakenFromABusyMachine) {
  EXPECT_THAT(reasons(of_a_busy_machine()), Contains(HasSubstr("--counts-only takes what")));
  EXPECT_THAT(reasons(of_a_busy_machine(), true), IsEmpty());
  const Acceptable made = accept(of_a_busy_machine(), {}, policy(), {.counts_only = true});
  EXPECT_THAT(made.refusals, IsEmpty());
  EXPECT_EQ(made.baseline.entries.at("toy/step/n:64/f64|optimized|peak_bytes").value, Value(4000.));
  EXPECT_FALSE(has_times(seen_on(toy::processor, made.baseline)));
}

TEST(Acceptance, TakingCountsAloneLeavesTimesAsTheyWereAccepted) {
  const Baseline before = after({with_speedup(10)});
  const Acceptable made = accept(of_a_busy_machine(), stored_from(toy::processor, before), policy(),
                                 {.why = "less memory", .counts_only = true});
  EXPECT_EQ(seen_on(toy::processor, made.baseline).entries.at(speedup_key).value, Value(10.));
  EXPECT_EQ(made.baseline.entries.at("toy/step/n:64/f64|optimized|peak_bytes").value, Value(4000.));
}

TEST(Acceptance, TakingCountsAloneLeavesTimesOfOtherProcessorsAsTheyWereAccepted) {
  const Baseline before = accept(with_speedup(10), std::nullopt, policy()).baseline;
  Results other = of_a_busy_machine();
  other.env.processor = "GenuineIntel-6-207";
  const Acceptable made =
      accept(other, before, policy(), {.why = "less memory", .counts_only = true});
  EXPECT_EQ(seen_on(toy::processor, made.baseline).entries.at(speedup_key).value, Value(10.));
  EXPECT_FALSE(has_times(seen_on(other.env.processor, made.baseline)));
  for (const Change& change : made.changes) EXPECT_TRUE(change.after) << change.key;
}

TEST(Acceptance, FiveRunsEndTheBootstrap) {
  const std::vector<Results> runs(5, with_speedup(10));
  EXPECT_FALSE(after(runs).entries.at(speedup_key).bootstrap);
}

std::vector<Results> with_speedups(const std::vector<double>& values) {
  std::vector<Results> runs;
  for (const double value : values) {
    runs.push_back(with_speedup(value));
    runs.back().run.id = text("2026-11-21T12:00:0", runs.size(), "Z-", runs.size());
  }
  return runs;
}

// Accepts all runs in one command.
Acceptable together(std::vector<Results> runs, const std::optional<Baseline>& existing = {}) {
  const Results first = runs.front();
  runs.erase(runs.begin());
  return accept(first, existing, policy(), {.again = runs});
}

Entry speedup_in(const Acceptable& accepted) {
  return seen_on(toy::processor, accepted.baseline).entries.at(speedup_key);
}

// The machine has two modes, and each run shows one of them.
TEST(Acceptance, SeveralRunsOfOneBuildFoundAnEntryTogether) {
  const Acceptable accepted = together(with_speedups({15, 13, 15, 13, 14}));
  const Entry entry = speedup_in(accepted);
  EXPECT_THAT(entry.medians, ElementsAre(15, 13, 15, 13, 14));
  EXPECT_EQ(entry.value, Value(14.));
  EXPECT_EQ(entry.anchor, 14);
  EXPECT_EQ(entry.accepted.runs.size(), 5u);
  EXPECT_GT(screening_limit(0.05, entry), 0.3);
  EXPECT_THAT(accepted.refusals, IsEmpty());
}

TEST(Acceptance, RunsThatLeaveNoLimitAreRefused) {
  const Acceptable accepted = together(with_speedups({15, 11, 15, 11, 14}));
  ASSERT_FALSE(accepted.refusals.empty());
  EXPECT_THAT(accepted.refusals.front().why,
              AllOf(HasSubstr("was 11 to 15 in 5 runs"), HasSubstr("leaves no limit")));
  EXPECT_EQ(accepted.refusals.front().exit, 4);
}

TEST(Acceptance, ARunThatAnEntryHoldsCountsOnce) {
  std::vector<Results> runs = with_speedups({10, 10.2, 10.4});
  const std::optional<Baseline> two = together({runs[0], runs[1]}).baseline;
  EXPECT_THAT(speedup_in(together({runs[2], runs[0], runs[1]}, two)).medians,
              ElementsAre(10, 10.2, 10.4));
  EXPECT_THAT(speedup_in(together({runs[0], runs[1], runs[2]}, two)).medians,
              ElementsAre(10, 10.2, 10.4));
}

TEST(Acceptance, OfSeveralRunsTheMiddleIsHeldAgainstTheEntryAndThoseJoinThatAgreeByThemselves) {
  const std::optional<Baseline> ten = after({with_speedup(10)});
  const Acceptable accepted = together(with_speedups({7, 10.1, 9.9}), ten);
  EXPECT_THAT(accepted.changes, IsEmpty());
  EXPECT_THAT(speedup_in(accepted).medians, ElementsAre(10, 10.1, 9.9));
  EXPECT_THAT(accepted.left_out,
              ElementsAre(HasSubstr(", 7: beyond the limit of the accepted 10")));
}

TEST(Acceptance, AMuchWorseRunBesideGoodOnesLeavesTheLimitAsItWas) {
  const std::optional<Baseline> two = together(with_speedups({16.82, 16.82})).baseline;
  std::vector<Results> runs = with_speedups({16.78, 16.77, 13.67});
  for (Results& run : runs) run.run.id.replace(8, 2, "22");
  const Entry before = speedup_in({*two}), entry = speedup_in(together(runs, two));
  EXPECT_EQ(screening_limit(0.05, entry), screening_limit(0.05, before));
  EXPECT_TRUE(entry.bootstrap);
  EXPECT_EQ(speedup_in(together({runs[2], runs[0], runs[1]}, two)).medians.size(), 4u);
}

TEST(Acceptance, ALimitThatBecomesTwiceAsWideNeedsAReason) {
  const std::optional<Baseline> four = together(with_speedups({10, 10, 10, 10})).baseline;
  Results fifth = with_speedup(9.55);
  fifth.run.id = "2026-11-22T12:00:00Z-5";
  const Acceptable accepted = accept(fifth, four, policy(), {.why = "another host"});
  ASSERT_EQ(accepted.changes.size(), 1u);
  EXPECT_THAT(accepted.changes.front().asks_why, HasSubstr("limit from +5 % to +1"));
  EXPECT_EQ(speedup_in(accepted).accepted.why, "another host");
  toy::metric(fifth, "case", "speedup") = toy::timed("ratio", 9.8);
  EXPECT_THAT(accept(fifth, four, policy()).changes, IsEmpty());
}

TEST(Acceptance, OfSeveralRunsThoseWhoseProcessesAgreeFoundAnEntry) {
  std::vector<Results> runs = with_speedups({7, 10, 10.2});
  toy::metric(runs[0], "case", "speedup").mad_between = 2;
  const Acceptable accepted = together(runs);
  EXPECT_THAT(speedup_in(accepted).medians, ElementsAre(10, 10.2));
  EXPECT_THAT(accepted.refusals, IsEmpty());
  const Acceptable alone = together({runs[0]});
  ASSERT_EQ(alone.refusals.size(), 1u);
  EXPECT_THAT(alone.refusals.front().why, HasSubstr("speedup is noisy"));
}

// Runs with these speedups and hand-over times between threads.
std::vector<Results> with_handovers(const std::vector<double>& speedups,
                                    const std::vector<double>& handovers) {
  std::vector<Results> runs = with_speedups(speedups);
  for (std::size_t i = 0; i < runs.size(); ++i)
    runs[i].cases.front().metrics["handover_s"] = toy::timed("time", handovers[i]);
  return runs;
}

TEST(Acceptance, OfSeveralRunsThoseWithTheThreadsCloseTogetherFoundAnEntry) {
  const auto runs = with_handovers({6, 10, 10.2}, {120e-9, 50e-9, 60e-9});
  EXPECT_THAT(speedup_in(together(runs)).medians, ElementsAre(10, 10.2));
}

TEST(Acceptance, OfSeveralRunsThoseWhoseThreadsStoodApartAsInTheFirstFoundAnEntry) {
  const auto runs = with_handovers({6, 10, 6.2}, {350e-9, 50e-9, 360e-9});
  const Acceptable accepted = together(runs);
  const Entries& apart = accepted.baseline.processors.at(text(toy::processor, " apart"));
  EXPECT_THAT(apart.at(speedup_key).medians, ElementsAre(6, 6.2));
  ASSERT_EQ(accepted.left_out.size(), 1u);
  EXPECT_THAT(
      accepted.left_out.front(),
      AllOf(HasSubstr(runs[1].run.id),
            HasSubstr("which are of AuthenticAMD-26-2 and not of AuthenticAMD-26-2 apart")));
}

TEST(Acceptance, OfSeveralRunsThoseOnCoresOfTheirOwnFoundAnEntry) {
  std::vector<Results> runs = with_speedups({6, 10, 10.2});
  runs[0].cases.front().metrics[shared_metric] = {.kind = "advisory", .value = 1};
  EXPECT_THAT(speedup_in(together(runs)).medians, ElementsAre(10, 10.2));
}

TEST(Acceptance, OnSharedCoresNoSpeedupIsKnownToAFewPercent) {
  std::vector<Results> runs = with_speedups({10});
  runs[0].cases.front().metrics[shared_metric] = {.kind = "advisory", .value = 1};
  const Entry entry = speedup_in(together(runs));
  EXPECT_EQ(entry.value, Value(10.0));
  EXPECT_GE(*entry.mad_between, 0.5);
}

TEST(Acceptance, RunsThatDifferInACountFoundNothing) {
  Results other = with_launches(5);
  other.run.id = "2026-11-22-1";
  const Acceptable accepted = accept(with_launches(4), std::nullopt, policy(), {.again = {other}});
  ASSERT_EQ(accepted.refusals.size(), 1u);
  EXPECT_THAT(accepted.refusals.front().why, HasSubstr("launches is 4 in the run"));
}

TEST(Acceptance, RunsThatDifferInAByteAreToldApart) {
  Results other = toy::dry();
  other.run.id = "2026-11-22-1";
  toy::metric(other, "optimized", "peak_bytes") = toy::exact(1177857);
  const Acceptable accepted = accept(toy::dry(), std::nullopt, policy(), {.again = {other}});
  ASSERT_EQ(accepted.refusals.size(), 1u);
  EXPECT_THAT(accepted.refusals.front().why,
              AllOf(HasSubstr("peak_bytes is 1.177856 MB in the run "),
                    HasSubstr(" and 1.177857 MB in 2026-11-22-1")));
}

TEST(Acceptance, ACountThatOneOfTheRunsLacksFoundsNothing) {
  Results other = with_launches(4);
  other.run.id = "2026-11-22-1";
  other.cases.front().variants["optimized"].metrics.erase("launches");
  const Acceptable accepted = accept(with_launches(4), std::nullopt, policy(), {.again = {other}});
  ASSERT_EQ(accepted.refusals.size(), 1u);
  EXPECT_THAT(accepted.refusals.front().why, HasSubstr("and absent in 2026-11-22-1"));
}

TEST(Acceptance, WhatIsNotMeasuredAnyMoreGoesForEveryProcessor) {
  Results intel = toy::host();
  intel.env.processor = "GenuineIntel-6-207";
  const std::optional<Baseline> one = accept(toy::host(), std::nullopt, policy()).baseline;
  const std::optional<Baseline> both = accept(intel, one, policy()).baseline;
  Results less = toy::host();
  less.run.id = "2026-11-22-1";
  less.cases.back().metrics.erase("speedup");
  const Acceptable accepted = accept(less, both, policy());
  const std::string key = text(toy::sum_id, "|case|speedup");
  for (const auto& [processor, entries] : accepted.baseline.processors)
    EXPECT_FALSE(entries.contains(key)) << processor;
  std::vector<std::string> gone;
  for (const Change& change : accepted.changes)
    if (!change.after) gone.push_back(change.key);
  EXPECT_THAT(gone, ElementsAre(key, key + " (GenuineIntel-6-207)"));
}

TEST(Acceptance, ARunThatDisagreesStartsAnew) {
  const Entry entry = after({with_speedup(10), with_speedup(20)}, "fused").entries.at(speedup_key);
  EXPECT_THAT(entry.medians, ElementsAre(20));
  EXPECT_EQ(entry.anchor, 20);
  EXPECT_EQ(entry.accepted.previous, Value(10.0));
}

// Accepts `speedup` as the run of the day after those of `before`, and makes it the anchor.
Acceptable with_new_anchor(double speedup, const Baseline& before, const std::string& why) {
  Results run = with_speedup(speedup);
  run.run.id = "2026-11-20T12:00:00Z-9";
  return accept(run, before, policy(), {.why = why, .anchor = Anchor::here});
}

TEST(Acceptance, AWorseAnchorNeedsAReason) {
  const Baseline nine = after({with_speedup(10), with_speedup(9)}, "safer");
  ASSERT_EQ(nine.entries.at(speedup_key).anchor, 10);
  const Acceptable accepted = with_new_anchor(9, nine, "");
  ASSERT_EQ(accepted.changes.size(), 1u);
  EXPECT_EQ(accepted.changes.front().key, speedup_key);
  EXPECT_EQ(accepted.changes.front().asks_why, "anchor from 10 to 9");
}

TEST(Acceptance, TheReasonOfAWorseAnchorExcusesItWhereTheChangeIsJudged) {
  const Baseline nine = after({with_speedup(10), with_speedup(9)}, "safer");
  const Entry entry = speedup_in(with_new_anchor(9, nine, "release 2"));
  EXPECT_EQ(entry.anchor, 9);
  const Policy rules = policy();
  const Standard standard =
      rules.standard(toy::step_id, nine.device_class, case_variant, "speedup", "ratio");
  const auto changes = compare(standard, nine.entries.at(speedup_key), entry, gate::reasons(nine));
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes.front().what, "anchor");
  EXPECT_TRUE(changes.front().excused) << changes.front().said.why;
}

TEST(Acceptance, AWorseAnchorOfAWorseValueIsOneChange) {
  const Acceptable accepted = with_new_anchor(9, after({with_speedup(10)}), "");
  ASSERT_EQ(accepted.changes.size(), 1u);
  EXPECT_EQ(accepted.changes.front().asks_why, "worse, anchor from 10 to 9");
}

TEST(Acceptance, ABetterAnchorNeedsNoReason) {
  const Baseline before = after({with_speedup(10), with_speedup(10.2)});
  const Acceptable accepted = with_new_anchor(10.4, before, "");
  EXPECT_THAT(accepted.changes, IsEmpty());
  EXPECT_EQ(speedup_in(accepted).anchor, 10.2);
}

// It is a gain over what was accepted, and a loss from where drift begins.
TEST(Acceptance, AGainThatStaysBelowTheAnchorLeavesItWhereItWas) {
  const Baseline six = after({with_speedup(10), with_speedup(6)}, "safer");
  Results run = with_speedup(9);
  run.run.id = "2026-11-20T12:00:00Z-9";
  const Acceptable accepted = accept(run, six, policy());
  ASSERT_EQ(accepted.changes.size(), 1u);
  EXPECT_EQ(accepted.changes.front().asks_why, "");
  EXPECT_EQ(speedup_in(accepted).value, Value(9.));
  EXPECT_EQ(speedup_in(accepted).anchor, 10);
}

// A run of one process, which decides nothing.
Results undecided(double speedup, const char* code = nullptr) {
  Results results = with_speedup(speedup);
  toy::metric(results, "case", "speedup") = {
      .kind = "ratio", .processes = {speedup}, .median = speedup, .mad_between = 0, .samples = 80};
  for (const char* variant : {"optimized", "reference"})
    if (code) results.cases.front().variants[variant].identity = code;
  return results;
}
Entry after_undecided(const std::vector<Results>& runs) {
  return after(runs, "why").entries.at(speedup_key);
}

TEST(Acceptance, ABootstrapTakesInWhatItIsNearThoughItDecidesNothing) {
  EXPECT_THAT(after_undecided({undecided(10), undecided(10.1), undecided(9.9)}).medians,
              ElementsAre(10, 10.1, 9.9));
  EXPECT_THAT(after_undecided({undecided(10), undecided(10.1), undecided(14)}).medians,
              ElementsAre(14));
}

TEST(Acceptance, ABootstrapTakesInNothingBeyondItsLimit) {
  EXPECT_THAT(after_undecided({undecided(10), undecided(9.3)}).medians, ElementsAre(9.3));
}

// The machine code is known, and all processes that a decision needs were measured.
TEST(Acceptance, ALossThatARunOfEnoughProcessesShowsStartsAnewThoughTheCodeIsTheSame) {
  const auto measured = [](double speedup) {
    Results results = with_speedup(speedup);
    for (const char* variant : {"optimized", "reference"})
      results.cases.front().variants[variant].identity = "aa";
    return results;
  };
  for (const double speedup : {9.4, 5.})
    EXPECT_THAT(after_undecided({measured(10), measured(speedup)}).medians, ElementsAre(speedup));
}

TEST(Acceptance, OtherCodeOfTheReferenceIsOtherCode) {
  Results other = undecided(6, "aa");
  other.cases.front().variants["reference"].identity = "bb";
  EXPECT_THAT(after_undecided({undecided(10, "aa"), other}).medians, ElementsAre(6));
}

// The loss may be the host's, which launches the same code.
TEST(Acceptance, AnotherDayOfTheSameCodeJoinsWithItsReason) {
  const Baseline ten = accept(undecided(10, "aa"), std::nullopt, policy()).baseline;
  Results six = undecided(6, "aa");
  six.run.id = "2026-11-11T12:00:00Z-1";
  const Acceptable accepted = accept(six, ten, policy(), {.why = "a slower host"});
  const Entry entry = seen_on(toy::processor, accepted.baseline).entries.at(speedup_key);
  EXPECT_THAT(entry.medians, ElementsAre(10, 6));
  EXPECT_EQ(entry.accepted.why, "a slower host");
  ASSERT_EQ(accepted.changes.size(), 1u);
  EXPECT_EQ(accepted.changes.front().asks_why, "worse");
  EXPECT_THAT(after_undecided({undecided(10, "aa"), undecided(14, "bb")}).medians, ElementsAre(14));
}

// The value may come from the code of other cases, too.
TEST(Acceptance, OfWhatACaseMeasuresBesideItsSpeedupNoCodeIsKnownToBeTheSame) {
  const auto measured = [](double seconds) {
    Results results = undecided(10, "aa");
    toy::metric(results, "case", "handover_s") = {
        .kind = "time", .processes = {seconds}, .median = seconds, .mad_between = 0, .samples = 80};
    return results;
  };
  const Baseline accepted = after({measured(50e-9), measured(90e-9)}, "why");
  EXPECT_THAT(accepted.entries.at("toy/step/n:64/f64|case|handover_s").medians, ElementsAre(90e-9));
}

TEST(Acceptance, CodeThatWasAcceptedLaterThanATimeIsNotItsOwn) {
  std::optional<Baseline> baseline;
  const auto take = [&](Results run, const char* utc, bool counts_only) {
    run.run.utc = run.run.id = utc;
    baseline = accept(run, baseline, policy(), {.why = "why", .counts_only = counts_only}).baseline;
  };
  take(undecided(10, "aa"), "2026-11-10T12:00:00Z", false);
  take(undecided(14, "bb"), "2026-11-11T12:00:00Z", true);
  take(undecided(14, "bb"), "2026-11-12T12:00:00Z", false);
  EXPECT_THAT(seen_on(toy::processor, *baseline).entries.at(speedup_key).medians, ElementsAre(14));
}

TEST(Acceptance, AnEntryThatKnowsItsSpreadTakesInNoSingleProcess) {
  EXPECT_THAT(after_undecided({with_speedup(10), undecided(10.1)}).medians, ElementsAre(10.1));
}

TEST(Acceptance, TheSameRunChangesNothing) {
  const Baseline once = accept(toy::host(), std::nullopt, policy()).baseline;
  EXPECT_EQ(baseline_text(accept(toy::host(), once, policy(), {.why = "again"}).baseline),
            baseline_text(once));
}

TEST(Acceptance, OfManyRunsAnEntryKeepsTheNewestTwenty) {
  std::vector<Results> runs;
  for (int i = 0; i < 18; ++i) runs.push_back(with_speedup(10 + 0.001 * i));
  Baseline baseline = after(runs);
  for (int i = 18; i < 22; ++i) {
    Results run = with_speedup(10 + 0.001 * i);
    run.run.id = text("2026-12-", i - 8, "T12:00:00Z-", i);
    baseline = seen_on(toy::processor,
                       accept(run, stored_from(toy::processor, baseline), policy()).baseline);
  }
  const Entry entry = baseline.entries.at(speedup_key);
  ASSERT_EQ(entry.medians.size(), 20u);
  EXPECT_EQ(entry.medians.front(), 10.002);
  EXPECT_EQ(entry.medians.back(), 10.021);
}

// A policy by which fewer registers are no gain where there are more launches.
Policy with_prices() {
  return policy(toy::policy_with(
      R"("metrics": {)", R"("metrics": {"registers_max": {"fall_is_change": ["launches"]}, )"));
}

Results with_fewer_registers(double launches) {
  Results results = with_launches(launches);
  toy::metric(results, "optimized", "registers_max") = toy::codegen(30);
  return results;
}

TEST(Acceptance, AGainThatIsPaidForElsewhereNeedsAReasonAndIsNotProposed) {
  const std::optional<Baseline> before = accept(toy::dry(), std::nullopt, policy()).baseline;
  const std::string registers = text(toy::step_id, "|optimized|registers_max");
  const auto asks = [&](double launches) {
    for (const Change& change :
         accept(with_fewer_registers(launches), before, with_prices()).changes)
      if (change.key == registers) return change.asks_why;
    return std::string("no change");
  };
  EXPECT_EQ(asks(4), "");
  EXPECT_EQ(asks(5), "a gain that can be a loss");
  const auto proposes = [&](double launches) {
    return ratchet(with_fewer_registers(launches), *before, with_prices(), {}).changes.size();
  };
  EXPECT_EQ(proposes(4), 1u);
  EXPECT_EQ(proposes(5), 0u);
}

TEST(Acceptance, OfACaseThatFailedNothingIsTakenNorProposed) {
  Results failed = with_launches(3);
  failed.cases.front().status = "failed";
  const Baseline before = accept(toy::dry(), std::nullopt, policy()).baseline;
  EXPECT_FALSE(accept(failed, std::nullopt, policy()).baseline.entries.contains(launches_key));
  EXPECT_TRUE(ratchet(failed, before, policy(), {}).changes.empty());
}

TEST(Acceptance, WhatIsNoisyOrOnlyTellsWhereThreadsStoodIsNotProposed) {
  Results then = with_speedup(10);
  then.cases.front().metrics["handover_s"] = toy::timed("time", 50e-9);
  const Baseline before = accept(then, std::nullopt, policy()).baseline;
  Results now = with_speedup(20);
  now.cases.front().metrics["handover_s"] = toy::timed("time", 20e-9);
  const std::string handover = text(toy::step_id, "|case|handover_s");
  const OtherRuns others{.fresh = {{speedup_key, {{.value = 20., .processes = 5}}},
                                   {handover, {{.value = 20e-9, .processes = 5}}}}};
  const auto proposed = [&] {
    std::vector<std::string> keys;
    for (const Change& change : ratchet(now, before, policy(), others).changes)
      keys.push_back(change.key);
    return keys;
  };
  EXPECT_THAT(proposed(), ElementsAre(speedup_key));
  toy::metric(now, "case", "speedup").mad_between = 4;
  EXPECT_THAT(proposed(), IsEmpty());
}

TEST(Pruning, LeavesWhatIsListedOfAnyTierThatTheGateHolds) {
  Baseline kept = accept(toy::dry(), std::nullopt, policy()).baseline;
  kept.bounded = MetricNames{{toy::step_id, {"peak_bytes"}}};
  kept.limits[toy::step_id].value = 1e-12;
  std::set<std::string> metrics;
  for (const auto& [name, meaning] : toy::metrics()) metrics.insert(name);
  List list = toy::list();
  list.cases.front().tier = "smoke";
  EXPECT_TRUE(orphans(kept, list, metrics).empty());
  list.cases.front().tier = "full";
  EXPECT_FALSE(orphans(kept, list, metrics).empty());
}

TEST(Acceptance, AnEqualCountKeepsItsEntry) {
  const Entry entry = after({with_launches(4), with_launches(4)}, "why").entries.at(launches_key);
  EXPECT_THAT(entry.accepted.runs, ElementsAre(HasSubstr("2026-11-10")));
}

TEST(Acceptance, AWorseningIsMarkedAndAnImprovementIsNot) {
  const std::optional<Baseline> four = after({with_launches(4)});
  const Acceptable worse = accept(with_launches(5), four, policy());
  const Acceptable better = accept(with_launches(3), four, policy());
  ASSERT_EQ(worse.changes.size(), 1u);
  EXPECT_EQ(worse.changes.front().asks_why, "worse");
  ASSERT_EQ(better.changes.size(), 1u);
  EXPECT_EQ(better.changes.front().asks_why, "");
}

// A check of the change elsewhere would call it a loosening.
TEST(Acceptance, OtherArgumentsOfTheSameCodeNeedAReason) {
  const auto of = [](double sum, const char* identity = "sha256:aa") {
    Results results = toy::dry();
    Variant& optimized = results.cases.front().variants["optimized"];
    optimized.identity = identity;
    optimized.kernels.front().evidence["argument_sum"] = sum;
    return results;
  };
  const auto asks = [&](const Results& before, const Results& now) {
    for (const Change& change :
         accept(now, accept(before, std::nullopt, policy()).baseline, policy()).changes)
      if (change.key == text(toy::step_id, "|optimized|kernels")) return change.asks_why;
    return std::string("no change");
  };
  EXPECT_EQ(asks(of(7), of(8)), "other arguments of the same code");
  EXPECT_EQ(asks(of(7), toy::dry()), "other arguments of the same code");
  EXPECT_EQ(asks(of(7), of(8, "sha256:cc")), "");
  EXPECT_EQ(asks(toy::dry(), of(8)), "");
}

TEST(Acceptance, OnlyWhatIsWorseByItsDirectionIsCalledWorse) {
  const std::optional<Baseline> ten = accept(undecided(10, "aa"), std::nullopt, policy()).baseline;
  for (const auto& [speedup, asks] : {std::pair(14., "undecided"), std::pair(6., "worse")}) {
    Results now = undecided(speedup, "aa");
    now.run.id = "2026-11-11T12:00:00Z-1";
    const Acceptable accepted = accept(now, ten, policy());
    ASSERT_EQ(accepted.changes.size(), 1u);
    EXPECT_EQ(accepted.changes.front().asks_why, asks);
  }
  Results quicker = toy::dry();
  toy::metric(quicker, "reference", "launches") = toy::exact(800);
  const Acceptable moved =
      accept(quicker, accept(toy::dry(), std::nullopt, policy()).baseline, policy());
  ASSERT_EQ(moved.changes.size(), 1u);
  EXPECT_EQ(moved.changes.front().asks_why, "changed") << "a yardstick";
}

TEST(Acceptance, AnEntryThatGoesIsAWorsening) {
  const std::optional<Baseline> whole = after({toy::dry()});
  Results less = toy::dry();
  less.cases.pop_back();
  const Acceptable accepted = accept(less, whole, policy());
  EXPECT_FALSE(accepted.baseline.entries.contains("toy/sum/n:64/f64|optimized|launches"));
  EXPECT_EQ(accepted.changes.back().asks_why, "removed");
}

TEST(Acceptance, AnotherKindOfAMetricIsAChangeThatNeedsAReason) {
  const std::optional<Baseline> before = accept(toy::dry(), std::nullopt, policy()).baseline;
  EXPECT_EQ(before->metrics.at("launches"), (Meaning{"exact"}));
  EXPECT_FALSE(before->metrics.contains("time_s")) << "nothing of it is accepted";
  Meanings other = toy::metrics();
  other["launches"].better = Better::higher;
  const Acceptable accepted = accept(toy::dry(), before, policy().with(other));
  EXPECT_EQ(accepted.baseline.metrics.at("launches").better, Better::higher);
  ASSERT_EQ(accepted.changes.size(), 1u);
  EXPECT_EQ(accepted.changes.front().key, "launches");
  EXPECT_EQ(accepted.changes.front().after, Value("exact in 1, higher is better"));
  EXPECT_EQ(accepted.changes.front().asks_why, "another meaning");
}

TEST(Acceptance, OnlyTheGateTierEnters) {
  Results results = toy::dry();
  results.tier = "full";
  results.cases.back().tier = "full";
  const Baseline baseline = accept(results, std::nullopt, policy()).baseline;
  EXPECT_TRUE(baseline.entries.contains(launches_key));
  EXPECT_FALSE(baseline.entries.contains("toy/sum/n:64/f64|optimized|launches"));
}

// Accepts what a list promises, after what another list did.
Acceptable promised(const List& list, const Policy& policy,
                    const std::optional<Baseline>& before = {}) {
  Acceptable accepted;
  accept_listed(toy::host(), list, policy, before, "why", accepted);
  return accepted;
}

TEST(Acceptance, ALimitThatIsListedNoMoreAsksWhy) {
  List list = toy::list();
  const Baseline before = promised(list, policy()).baseline;
  list.cases.front().limit.reset();
  const Acceptable accepted = promised(list, policy(), before);
  EXPECT_FALSE(accepted.baseline.limits.contains(toy::step_id));
  ASSERT_EQ(accepted.changes.size(), 1u);
  EXPECT_EQ(accepted.changes.front().key, "toy/step/n:64/f64|case|limit");
  EXPECT_EQ(accepted.changes.front().asks_why, "removed");
}

TEST(Acceptance, ABoundedMetricOfACaseThatGatesNoMoreAsksWhy) {
  const std::string rules =
      toy::policy_with(R"("rules": [)", R"("rules": [{"match": "toy/**", "metric": "floor_fraction",
                                     "bound": {"min": 0.1, "source": "a toy's"}},)");
  List list = toy::list();
  for (ListedCase& listed : list.cases) listed.devices["host"].push_back("floor_fraction");
  const Baseline before = promised(list, policy(rules)).baseline;
  EXPECT_THAT(before.bounded->at(toy::step_id), ElementsAre("floor_fraction"));
  list.cases.front().tier = "full";
  const Acceptable accepted = promised(list, policy(rules), before);
  EXPECT_FALSE(accepted.baseline.bounded->contains(toy::step_id));
  EXPECT_TRUE(accepted.baseline.bounded->contains(toy::sum_id));
  ASSERT_EQ(accepted.changes.size(), 1u);
  EXPECT_EQ(accepted.changes.front().key, "toy/step/n:64/f64|case|floor_fraction");
  EXPECT_EQ(accepted.changes.front().asks_why, "removed");
}

TEST(Acceptance, AdvisoryMetricsDoNotEnter) {
  Results results = toy::host();
  toy::metric(results, "optimized", "floor_fraction") = {.kind = "advisory", .value = 0.5};
  const Baseline baseline = accept(results, std::nullopt, policy()).baseline;
  EXPECT_FALSE(baseline.entries.contains("toy/step/n:64/f64|optimized|floor_fraction"));
}

// git's merge of two branches, each with another value for the launches of one of two cases; its
// exit code is the number of conflicts.
Outcome merged(const Baseline& base) {
  const TemporaryFolder folder("merge");
  const auto put = [&](const char* name, const char* case_id) {
    Baseline branch = base;
    if (case_id) {
      Entry& entry = branch.entries.at(entry_key(case_id, "optimized", "launches"));
      entry.value = 3.0;
      entry.accepted.why = text("the better ", name);
    }
    write_file(folder.path() / name, baseline_text(branch));
    return (folder.path() / name).string();
  };
  return run_task({.program = "/usr/bin/env",
                   .arguments = {"git", "merge-file", "-p", put("one", toy::step_id),
                                 put("base", nullptr), put("other", toy::sum_id)}});
}

TEST(Merging, BranchesThatAcceptDifferentCasesNeedsNoHand) {
  Baseline base = accept(toy::dry(), std::nullopt, policy()).baseline;
  std::size_t count = 0;  // as in a file with a history
  for (auto& [key, entry] : base.entries) entry.accepted.why = text("reason ", ++count);
  const Outcome outcome = merged(base);
  EXPECT_EQ(outcome.code, 0) << outcome.output;
  const Entries entries = parse_baseline(Document("b.json", outcome.output)).entries;
  for (const char* id : {toy::step_id, toy::sum_id})
    EXPECT_EQ(entries.at(entry_key(id, "optimized", "launches")).value, Value(3.0));
}

TEST(Merging, MeetsAConflictAmongAcceptancesAtMost) {
  const Outcome outcome = merged(accept(toy::dry(), std::nullopt, policy()).baseline);
  EXPECT_LE(outcome.code, 1);
  const std::string below = outcome.output.substr(outcome.output.find("\"device_class\""));
  EXPECT_THAT(below, AllOf(HasSubstr("\"entries\""), testing::Not(HasSubstr("<<<<"))));
}

TEST(Patch, ShowsThreeLinesAroundAChange) {
  EXPECT_EQ(unified_diff("a.json", "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n"),
            "diff --git a/a.json b/a.json\n--- a/a.json\n+++ b/a.json\n@@ -2,7 +2,7 @@\n 2\n 3\n "
            "4\n-5\n+five\n 6\n 7\n 8\n");
}

TEST(Patch, JoinsChangesThatAreNear) {
  const std::string diff = unified_diff("a", "1\n2\n3\n4\n5\n", "one\n2\n3\n4\nfive\n");
  EXPECT_THAT(diff, HasSubstr("@@ -1,5 +1,5 @@\n-1\n+one\n 2\n 3\n 4\n-5\n+five\n"));
}

TEST(Patch, MakesANewFile) {
  EXPECT_THAT(unified_diff("a", "", "1\n2\n"),
              HasSubstr("--- /dev/null\n+++ b/a\n@@ -0,0 +1,2 @@\n+1\n+2\n"));
}

TEST(Patch, OfATextWithEqualLinesShowsTheChangeAlone) {
  const std::string before = "{\na: 4\n},\nb: 1\n},\nc: 2\n}\n}\n";
  std::string after = before;
  after.replace(after.find("a: 4"), 4, "a: 3");
  EXPECT_EQ(unified_diff("x", before, after),
            "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,5 +1,5 @@\n {\n-a: 4\n+a: 3\n },\n b: 1\n"
            " },\n");
}

TEST(Patch, IsEmptyForEqualTexts) {
  EXPECT_EQ(unified_diff("a", "1\n", "1\n"), "");
}

}  // namespace
}  // namespace holdfast::gate
