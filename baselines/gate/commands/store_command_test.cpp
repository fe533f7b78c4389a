// SPDX-License-Identifier: Apache-2.0
// The real `holdfast baseline` on what a user does to a store: accepts, prunes, renames cases, sets
// the anchor; and what it refuses to accept.
#include <gmock/gmock.h>

#include <functional>

#include "gate/testing/gate_command.hpp"
#include "gate/testing/typed_command.hpp"

namespace holdfast::gate {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

constexpr const char* launches_key = "toy/step/n:64/f64|optimized|launches";
constexpr const char* step_speedup = "toy/step/n:64/f64|case|speedup";

class StoreCommand : public GateCommand {
 protected:
  std::string stored() { return read_file(baseline(toy::dry())); }
  Entry entry(const Results& results, const std::string& key) {
    return seen_on(toy::processor, read_baseline(baseline(results))).entries.at(key);
  }
  int prune(const std::vector<std::string>& more = {}) {
    return holdfast(toy::joined({"baseline", "prune"}, stores(), more));
  }
  // Gives an entry another key, as if it had been accepted under it.
  void move_entry(const std::string& from, const std::string& to) {
    Baseline kept = read_baseline(baseline(toy::dry()));
    kept.entries[to] = kept.entries.at(from);
    kept.entries.erase(from);
    kept.metrics.try_emplace(metric_of(to), kept.metrics.at(metric_of(from)));
    write_file(baseline(toy::dry()), baseline_text(kept));
  }
  // All entries of a case, as if it had had another name when they were accepted.
  void call_case(const std::string& from, const std::string& to) {
    const Baseline kept = read_baseline(baseline(toy::dry()));
    write_file(baseline(toy::dry()), baseline_text(toy::accepted_as(to, from, kept)));
  }
  // The exit code of `accept` for the toy as `spoil` leaves it.
  int refused(const std::function<void(Results&)>& spoiled) {
    Results now = toy::host();
    spoiled(now);
    store(now);
    const int code = accept({"--why=a test"});
    EXPECT_FALSE(std::filesystem::exists(baseline(now))) << "it was accepted";
    return code;
  }
};

TEST_F(StoreCommand, AReasonThatNobodyCanReadAcceptsNothing) {
  accepted(toy::dry());
  const std::string before = stored();
  store(toy::dry(), "optimized", "launches", toy::exact(5));
  for (const char* nothing : {"--why= ", "--why=\u200b\t"})
    expect_complaint(accept({nothing}), 2, HasSubstr("--why holds nothing that can be read"));
  EXPECT_EQ(stored(), before);
}

TEST_F(StoreCommand, AReasonOfSeveralLinesIsStoredAsItIsReadBack) {
  store(toy::dry());
  ASSERT_EQ(accept({"--why=one\ntwo\t\x1b[31m"}), 0) << complaints_;
  EXPECT_THAT(stored(), HasSubstr("one\\\\ntwo"));
  expect_output(accept({"--why=three"}), 0, HasSubstr(": nothing to change"));
}

TEST_F(StoreCommand, ABaselineOfAProcessorWithoutANameIsRefused) {
  accepted(toy::host());
  spoil(baseline(toy::host()), toy::processor, "");
  expect_complaint(prune(), 2, HasSubstr("a processor has a name, and this one has none"));
}

TEST_F(StoreCommand, AHistoryIsKeptWithoutGitWhichIsToldToBeAbsent) {
  Results now = toy::dry();
  now.run.git_sha = std::string(40, 'a');
  store(now);
  const Outcome appended =
      run_task({.program = HOLDFAST_BINARY,
                .arguments = {"history", "append", results_.string(),
                              "--store=" + (folder_.path() / "history").string()},
                .environment = {{"PATH", "/nowhere"}}});
  gate::expect_complaint(appended, 0,
                         AllOf(HasSubstr("git is not installed"), Not(HasSubstr("--repository"))));
}

TEST_F(StoreCommand, PruneTellsWhatWouldGoAndWritesNothing) {
  accepted(toy::dry());
  move_entry(launches_key, "toy/gone/n:64/f64|optimized|launches");
  const std::string before = stored();
  expect_output(prune(), 0,
                AllOf(HasSubstr("toy/gone/n:64/f64|optimized|launches  4  (no such case)"),
                      HasSubstr("nothing is written yet; holdfast baseline prune --yes")));
  EXPECT_EQ(stored(), before);
}

TEST_F(StoreCommand, PruneLooksAtTheSuiteAndTheClassThatItIsAskedForAlone) {
  accepted(toy::dry());
  accepted(toy::host());
  move_entry(launches_key, "toy/gone/n:64/f64|optimized|launches");
  const std::string before = stored(), of_host = "--device-class=" + toy::host().env.device_class;
  expect_output(prune({"--yes", of_host}), 0, HasSubstr("every entry has its case and metric"));
  expect_complaint(prune({"--yes", "--only=other"}), 2,
                   HasSubstr("holds no baseline of the suite other; "));
  expect_complaint(prune({"--yes", "--device-class=tpu"}), 2, HasSubstr("no baseline on tpu; "));
  EXPECT_EQ(stored(), before);
  expect_output(prune({"--yes", "--only=toy", "--device-class=cuda-dry-sm_90"}), 0,
                HasSubstr("(no such case)"));
}

TEST_F(StoreCommand, PruneRemovesTheEntriesOfLostCasesAndMetrics) {
  accepted(toy::dry());
  move_entry(launches_key, "toy/gone/n:64/f64|optimized|launches");
  move_entry("toy/step/n:64/f64|optimized|peak_bytes", "toy/step/n:64/f64|optimized|tokens");
  const std::size_t before = read_baseline(baseline(toy::dry())).entries.size();
  expect_output(prune({"--yes"}), 0, HasSubstr("(no case has such a metric)"));
  EXPECT_EQ(read_baseline(baseline(toy::dry())).entries.size(), before - 2);
  expect_output(prune({"--yes"}), 0, HasSubstr("every entry has its case and metric"));
}

TEST_F(StoreCommand, AFileOfTheVersionBeforeIsJudgedShownAndRewrittenWhenItIsAccepted) {
  accepted(toy::dry());
  const std::vector<std::string> show = {"baseline", "show", "--baselines=" + baselines_.string()};
  ASSERT_EQ(holdfast(show), 0);
  const std::string now = stored(), shown = output_;
  store_older_baseline(toy::dry());
  EXPECT_EQ(check(), 0) << output_ << complaints_;
  ASSERT_EQ(holdfast(show), 0);
  EXPECT_EQ(output_, shown);
  ASSERT_EQ(accept(), 0) << complaints_;
  EXPECT_THAT(output_, HasSubstr("0 of 20 entries changed"));
  EXPECT_EQ(stored(), now);
}

TEST_F(StoreCommand, AListThatCallsAMetricSomethingElseIsAcceptedWithAReason) {
  accepted(toy::dry());
  List list = toy::list();
  list.metrics["launches"].better = Better::higher;
  store_as_listed(toy::dry(), list);
  expect_output(check(), 3, HasSubstr("was accepted as exact in 1, lower is better"));
  expect_complaint(
      accept(), 2,
      AllOf(HasSubstr("launches  exact in 1, lower is better -> exact in 1, higher is"),
            HasSubstr("(another meaning), which needs a reason")));
  EXPECT_EQ(accept({"--why=it counts something else"}), 0) << complaints_;
  EXPECT_EQ(check(), 0) << output_;
}

TEST_F(StoreCommand, AListOfTheVersionBeforeIsRefused) {
  accepted(toy::dry());
  spoil(lists_ / "toy.list.json", "holdfast-list/2", "holdfast-list/1");
  expect_complaint(check(), 2,
                   HasSubstr("the schema is 'holdfast-list/1', and this holdfast reads "
                             "'holdfast-list/2'; write the file again"));
}

TEST_F(StoreCommand, PruneKeepsWhatACaseReadsBeyondItsList) {
  accepted(toy::dry());
  List list = toy::list();
  list.cases.front().devices["cuda-dry"] = {"launches"};
  list.cases.back().devices["cuda-dry"] = {"launches", "peak_bytes", "registers_max"};
  write_file(lists_ / "toy.list.json", canonical(to_json(list)));
  expect_output(prune(), 0, HasSubstr("every entry has its case and metric"));
}

TEST_F(StoreCommand, PruneRemovesAFileOfWhichNothingIsLeft) {
  accepted(toy::dry());
  List list = toy::list();
  for (ListedCase& listed : list.cases) listed.devices.erase("cuda-dry");
  write_file(lists_ / "toy.list.json", canonical(to_json(list)));
  expect_output(prune({"--yes"}), 0, HasSubstr("(the case does not run on cuda-dry)"));
  EXPECT_FALSE(std::filesystem::exists(baseline(toy::dry())));
}

TEST_F(StoreCommand, PruneRemovesTheLimitOfALostCaseSoThatTheNextAcceptIsNotRefused) {
  accepted(toy::dry());
  List list = toy::list();
  list.cases.pop_back();
  Results now = toy::dry();
  now.cases.pop_back();
  store_as_listed(now, list);
  expect_output(prune({"--yes"}), 0,
                HasSubstr("toy/sum/n:64/f64|case|limit  1e-12  (no such case)"));
  const Baseline kept = read_baseline(baseline(now));
  EXPECT_FALSE(kept.limits.contains(toy::sum_id));
  EXPECT_TRUE(kept.limits.contains(toy::step_id));
  expect_output(accept(), 0, HasSubstr("nothing to change"));
}

TEST_F(StoreCommand, PruneRemovesALimitThatIsLeftWithoutEntries) {
  accepted(toy::dry());
  Baseline kept = read_baseline(baseline(toy::dry()));
  const std::string before = stored();
  kept.limits["toy/gone/n:64/f64"] = kept.limits.at(toy::step_id);
  write_file(baseline(toy::dry()), baseline_text(kept));
  expect_output(prune(), 0, HasSubstr("1 of 23 entries go"));
  expect_output(prune({"--yes"}), 0, HasSubstr("toy/gone/n:64/f64|case|limit"));
  EXPECT_EQ(stored(), before);
}

TEST_F(StoreCommand, PruneRemovesTheLimitOfACaseThatRunsElsewhere) {
  accepted(toy::dry());
  accepted(toy::host());
  List list = toy::list();
  list.cases.back().devices.erase("cuda-dry");
  write_file(lists_ / "toy.list.json", canonical(to_json(list)));
  expect_output(
      prune({"--yes"}), 0,
      HasSubstr("toy/sum/n:64/f64|case|limit  1e-12  (the case does not run on cuda-dry)"));
  EXPECT_FALSE(read_baseline(baseline(toy::dry())).limits.contains(toy::sum_id));
  EXPECT_TRUE(read_baseline(baseline(toy::host())).limits.contains(toy::sum_id));
}

// Its limit is still accepted with each run, and so is that of a case that lists none: an oracle's
// strictness is not given up without a reason.
TEST_F(StoreCommand, PruneKeepsTheLimitOfACaseThatIsListedHere) {
  accepted(toy::dry());
  List list = toy::list();
  list.cases.front().limit.reset();
  list.cases.back().tier = "full";
  write_file(lists_ / "toy.list.json", canonical(to_json(list)));
  expect_output(prune({"--yes"}), 0, HasSubstr("the case is of the tier full"));
  EXPECT_EQ(read_baseline(baseline(toy::dry())).limits.size(), 2u);
}

TEST_F(StoreCommand, PruneKeepsAFileOfWhichOnlyLimitsAreLeft) {
  accepted(toy::dry());
  List list = toy::list();
  for (ListedCase& listed : list.cases) listed.tier = "full";
  write_file(lists_ / "toy.list.json", canonical(to_json(list)));
  expect_output(prune({"--yes"}), 0, HasSubstr("20 of 22 entries go"));
  ASSERT_TRUE(std::filesystem::exists(baseline(toy::dry())));
  EXPECT_EQ(read_baseline(baseline(toy::dry())).limits.size(), 2u);
}

TEST_F(StoreCommand, PruneKnowsTheMetricsOfEachSuiteOfTheBuild) {
  accepted(toy::dry());
  for (const char* suite : {"other", "zoo"}) {
    List list = toy::list();
    list.suite = suite;
    list.cases.resize(1);
    list.cases.front().id = text(suite, "/step/n:64/f64");
    list.cases.front().devices = {{"cuda-dry", {"peak_bytes"}}};
    write_file(lists_ / text(suite, ".list.json"), canonical(to_json(list)));
  }
  expect_output(prune(), 0, HasSubstr("every entry has its case and metric"));
}

TEST_F(StoreCommand, PruneLeavesSuitesAloneThatTheBuildDoesNotHave) {
  accepted(toy::dry());
  std::filesystem::rename(baseline(toy::dry()),
                          baseline(toy::dry()).parent_path() / "elsewhere.json");
  expect_output(prune({"--yes"}), 0,
                HasSubstr("elsewhere.json: left as it is, this build has no suite"));
}

TEST_F(StoreCommand, PruneNeedsTheListsOfABuild) {
  accepted(toy::dry());
  std::filesystem::remove(lists_ / "toy.list.json");
  expect_complaint(prune(), 2, HasSubstr("has no lists of a build"));
}

TEST_F(StoreCommand, ARenamedCaseIsHeldAgainstWhatWasAcceptedUnderItsOldName) {
  accepted(toy::dry());
  call_case(toy::step_id, "toy/old/n:64/f64");
  EXPECT_EQ(check(), 3) << "without an alias the old name is missing";
  aliases(R"("toy/old/n:64/f64": "toy/step/n:64/f64")");
  EXPECT_EQ(check(), 0) << output_;
  store(toy::dry(), "optimized", "launches", toy::exact(5));
  expect_output(check(), 1, HasSubstr("rose from 4 to 5"));
}

TEST_F(StoreCommand, AnEntryMovesToTheNewNameWhenItIsAccepted) {
  accepted(toy::dry());
  const Entry before = entry(toy::dry(), launches_key);
  call_case(toy::step_id, "toy/older/n:64/f64");
  aliases(R"("toy/older/n:64/f64": "toy/old/n:64/f64", "toy/old/n:64/f64": "toy/step/n:64/f64")");
  EXPECT_EQ(accept(), 0) << complaints_;
  EXPECT_THAT(stored(), Not(HasSubstr("toy/older")));
  EXPECT_EQ(entry(toy::dry(), launches_key).accepted.utc, before.accepted.utc);
  EXPECT_EQ(check(), 0) << "the alias may stay, for the history";
}

TEST_F(StoreCommand, PruneKnowsWhatIsOnlyRenamed) {
  accepted(toy::dry());
  call_case(toy::step_id, "toy/old/n:64/f64");
  aliases(R"("toy/old/n:64/f64": "toy/step/n:64/f64")");
  expect_output(prune(), 0, HasSubstr("every entry has its case and metric"));
}

TEST_F(StoreCommand, AnAliasThatMatchesNothingIsAnError) {
  accepted(toy::dry());
  aliases(R"("toy/old/n:64/f64": "toy/new/n:64/f64")");
  expect_complaint(check(), 2, HasSubstr("no case is called 'toy/new/n:64/f64'"));
  EXPECT_EQ(accept(), 2);
}

TEST_F(StoreCommand, AnAliasOfACaseThatIsStillThereIsAnError) {
  accepted(toy::dry());
  aliases(R"("toy/sum/n:64/f64": "toy/step/n:64/f64")");
  expect_complaint(check(), 2, HasSubstr("'toy/sum/n:64/f64' is still a case"));
}

TEST_F(StoreCommand, AliasesThatLeadBackAreAnError) {
  accepted(toy::dry());
  aliases(R"("toy/a/f64": "toy/b/f64", "toy/b/f64": "toy/a/f64")");
  expect_complaint(check(), 2, HasSubstr("renamed until it is called 'toy/a/f64' again"));
}

TEST_F(StoreCommand, TwoCasesCannotBecomeOne) {
  accepted(toy::dry());
  aliases(R"("toy/a/f64": "toy/step/n:64/f64", "toy/b/f64": "toy/step/n:64/f64")");
  expect_complaint(check(), 2, HasSubstr("cannot both become 'toy/step/n:64/f64'"));
}

TEST_F(StoreCommand, ACaseStaysInItsSuite) {
  accepted(toy::dry());
  aliases(R"("other/step/f64": "toy/step/n:64/f64")");
  expect_complaint(check(), 2, HasSubstr("stays within its suite"));
}

TEST_F(StoreCommand, EntriesUnderBothNamesCollide) {
  accepted(toy::dry());
  Baseline kept = read_baseline(baseline(toy::dry()));
  kept.entries["toy/old/n:64/f64|optimized|launches"] = kept.entries.at(launches_key);
  write_file(baseline(toy::dry()), baseline_text(kept));
  aliases(R"("toy/old/n:64/f64": "toy/step/n:64/f64")");
  expect_complaint(check(), 2, HasSubstr("under an old name as well"));
}

// Accepts a speedup of `value` as the run of another day.
class Anchored : public StoreCommand {
 protected:
  int accept_speedup(double value, int day, const std::vector<std::string>& more = {}) {
    Results now = toy::host();
    now.run.id = text("2026-11-", day, "T12:00:00Z-0001");
    toy::metric(now, "case", "speedup") = toy::timed("ratio", value);
    store(now);
    return accept(more);
  }
  double anchor() { return *entry(toy::host(), step_speedup).anchor; }
};

TEST_F(Anchored, ALossThatWasAcceptedStaysDrift) {
  ASSERT_EQ(accept_speedup(10, 20), 0) << complaints_;
  ASSERT_EQ(accept_speedup(9, 21, {"--why=safer"}), 0) << complaints_;
  EXPECT_EQ(anchor(), 10);
  expect_output(check(), 0, HasSubstr("has drifted from its first accepted value, 10, to 9"));
}

TEST_F(Anchored, ThePolicyMayLetDriftBlock) {
  ASSERT_EQ(accept_speedup(10, 20), 0);
  ASSERT_EQ(accept_speedup(9, 21, {"--why=safer"}), 0);
  spoil(common_policy_, R"("ratio": {)", R"("ratio": {"drift": "block", )");
  expect_output(check(), 1, AllOf(HasSubstr("DRIFT"), Not(HasSubstr("--new-anchor"))));
}

TEST_F(Anchored, DriftIsExplainedBeforeItsNewAnchorIsAccepted) {
  ASSERT_EQ(accept_speedup(10, 20), 0);
  ASSERT_EQ(accept_speedup(9, 21, {"--why=safer"}), 0);
  ASSERT_EQ(check(), 0);
  const Outcome explained = toy::typed(toy::proposed(output_, "holdfast explain"));
  EXPECT_EQ(explained.code, 0) << explained.complaints;
  const std::string accepting = toy::proposed(explained.output, "holdfast baseline accept");
  EXPECT_THAT(accepting, HasSubstr(" --new-anchor"));
  const Outcome accepted = toy::typed(accepting);
  EXPECT_EQ(accepted.code, 0) << accepting << accepted.complaints;
  EXPECT_EQ(anchor(), 9);
}

TEST_F(Anchored, AReleaseMeasuresDriftAnew) {
  ASSERT_EQ(accept_speedup(10, 20), 0);
  ASSERT_EQ(accept_speedup(9, 21, {"--why=safer", "--new-anchor"}), 0) << complaints_;
  EXPECT_EQ(anchor(), 9);
  expect_output(check(), 0, Not(HasSubstr("DRIFT")));
}

TEST_F(Anchored, TheAnchorMovesWithoutAnyOtherChange) {
  ASSERT_EQ(accept_speedup(10, 20), 0);
  ASSERT_EQ(accept_speedup(9, 21, {"--why=safer"}), 0);
  ASSERT_EQ(accept({"--new-anchor", "--why=release 2"}), 0) << complaints_;
  EXPECT_THAT(output_, HasSubstr("1 of "));
  EXPECT_EQ(anchor(), 9);
}

TEST_F(Anchored, AWorseAnchorNeedsAReasonWhichTheCheckOfItsChangeTakes) {
  ASSERT_EQ(accept_speedup(10, 20), 0);
  ASSERT_EQ(accept_speedup(9, 21, {"--why=safer"}), 0);
  commit_baselines();
  expect_complaint(accept({"--new-anchor"}), 2,
                   HasSubstr("|case|speedup (anchor from 10 to 9), which needs a reason"));
  EXPECT_EQ(anchor(), 10);
  ASSERT_EQ(accept({"--new-anchor", "--why=release 2"}), 0) << complaints_;
  expect_output(check({"--baseline-ref=main"}), 0,
                AllOf(HasSubstr("ACCEPTED  accepted anchor of speedup"), HasSubstr("release 2")));
}

TEST_F(Anchored, ALossThatTheChangeAcceptsWithItsReasonPasses) {
  ASSERT_EQ(accept_speedup(10, 20), 0);
  commit_baselines();
  ASSERT_EQ(accept_speedup(5, 21, {"--why=safer"}), 0) << complaints_;
  expect_output(check({"--baseline-ref=main"}), 0,
                AllOf(HasSubstr("ACCEPTED"), HasSubstr("accepted with this change: safer")));
  EXPECT_THAT(output_, HasSubstr("has drifted from its first accepted value, 10, to 5"));
  spoil(common_policy_, R"("ratio": {)", R"("ratio": {"drift": "block", )");
  expect_output(check({"--baseline-ref=main"}), 1, HasSubstr("REGRESSION"));
}

TEST_F(Anchored, AGainIsWhereDriftBegins) {
  ASSERT_EQ(accept_speedup(10, 20), 0);
  ASSERT_EQ(accept_speedup(20, 21), 0) << complaints_;
  EXPECT_EQ(anchor(), 20);
}

TEST_F(StoreCommand, RunsOfOneDayStayABootstrap) {
  for (int run = 0; run < 5; ++run) {
    Results now = toy::host();
    now.run.id = text("2026-11-21T1", run, ":00:00Z-0001");
    store(now);
    ASSERT_EQ(accept(), 0) << complaints_;
  }
  EXPECT_TRUE(entry(toy::host(), step_speedup).bootstrap);
  store(toy::host(), [](Results& now) { now.run.id = "2026-11-22T12:00:00Z-0000"; });
  ASSERT_EQ(accept(), 0);
  EXPECT_FALSE(entry(toy::host(), step_speedup).bootstrap);
}

TEST_F(StoreCommand, NothingIsAcceptedUnderAPolicyThatACheckRefuses) {
  accepted(toy::dry());
  const std::string before = stored();
  store(toy::dry(), "optimized", "launches", toy::exact(3));
  spoil(common_policy_, "toy/step/**", "toy/stop/**");
  const std::string because = "common.json:10: this rule matches nothing";
  expect_complaint(check(), 2, HasSubstr(because));
  expect_complaint(accept(), 2, HasSubstr(because));
  EXPECT_EQ(stored(), before);
}

TEST_F(StoreCommand, NothingIsAcceptedIntoTheBaselineOfAnotherClass) {
  accepted(toy::dry());
  spoil(baseline(toy::dry()), "cuda-dry-sm_90", "cuda-dry-sm_80");
  const std::string before = stored();
  const std::string because = "toy.json: holds the baseline of the device class 'cuda-dry-sm_80'";
  expect_complaint(check(), 2, HasSubstr(because));
  expect_complaint(accept(), 2, HasSubstr(because));
  EXPECT_EQ(stored(), before);
}

TEST_F(StoreCommand, ANegativeCountIsNotAccepted) {
  expect_complaint(
      refused([](Results& now) { toy::metric(now, "optimized", "peak_bytes") = toy::exact(-1); }),
      2, HasSubstr("a count, a time or a ratio cannot be negative"));
}

TEST_F(StoreCommand, AFilteredRunIsNotAccepted) {
  expect_complaint(refused([](Results& now) { now.partial = true; }), 3,
                   HasSubstr("the run was filtered"));
}

TEST_F(StoreCommand, ASkippedCaseIsNotAcceptedUnlessThePolicyKnowsWhy) {
  accepted(toy::host());
  Results now = toy::host();
  CaseResult& skipped = now.cases.front();
  skipped = {.id = skipped.id, .tier = skipped.tier, .status = "skipped", .reason = "not today"};
  store(now);
  expect_complaint(accept({"--why=a test"}), 3, HasSubstr(skipped.id + ": skipped"));
  spoil(common_policy_, R"("kinds")", R"("absent": [{"metric": "*", "device": "host-*",
      "reason": "not today", "why": "a test"}], "kinds")");
  expect_output(accept({"--why=a test"}), 0, HasSubstr("(removed)"));
}

TEST_F(StoreCommand, ACaseOfAnotherTierThanListedIsNotAccepted) {
  expect_complaint(refused([](Results& now) { now.cases.front().tier = "full"; }), 2,
                   HasSubstr("is of the tier full, and its list says gate"));
}

TEST_F(StoreCommand, ARunOfTheSmokeTierIsNotAccepted) {
  expect_complaint(refused([](Results& now) {
                     now.tier = "smoke";
                     now.cases.clear();
                   }),
                   3,
                   AllOf(HasSubstr("the run was of the tier smoke"),
                         Not(HasSubstr("is listed and was not measured"))));
}

TEST_F(StoreCommand, ADifferenceTellsWhatIsGoneApartFromWhatWasNotMeasured) {
  accepted(toy::dry());
  move_entry(launches_key, "toy/gone/n:64/f64|optimized|launches");
  const std::size_t all = count_entries(read_baseline(baseline(toy::dry())));
  const auto expect_difference = [&](const auto& change, const std::string& unmeasured) {
    store(toy::dry(), change);
    expect_output(holdfast(toy::joined({"baseline", "diff", results_.string()}, stores())), 0,
                  AllOf(HasSubstr(text(": 1 of ", all, " entries would change")),
                        HasSubstr("toy/gone/n:64/f64|optimized|launches  4 -> none  (removed)"),
                        HasSubstr("left out: " + unmeasured + ": not measured in this run\n")));
    EXPECT_THAT(complaints_, HasSubstr("not accepted: toy on cuda-dry-sm_90"));
  };
  expect_difference(
      [](Results& now) {
        now.tier = "smoke";
        now.cases.clear();
      },
      text("2 cases such as ", toy::step_id));
  expect_difference(
      [](Results& now) {
        now.partial = true;
        now.cases.pop_back();
        now.cases.front().status = "crashed";
      },
      text("2 cases such as ", toy::step_id));
}

TEST_F(StoreCommand, ACustomRunIsNotAccepted) {
  expect_complaint(refused([](Results& now) { now.run.custom = {"--size=384"}; }), 3,
                   HasSubstr("the run was custom (--size=384"));
}

TEST_F(StoreCommand, DeviceCodeOfNoBuildIsNotAccepted) {
  expect_complaint(refused([](Results& now) { now.run.sources = "/somewhere"; }), 3,
                   HasSubstr("HOLDFAST_SOURCES=/somewhere"));
}

TEST_F(StoreCommand, AnInvalidMeasurementIsNotAccepted) {
  EXPECT_EQ(
      refused([](Results& now) { now.quality = {.valid = false, .reasons = {"the load was 9"}}; }),
      3);
  EXPECT_THAT(complaints_, HasSubstr("the load was 9"));
}

TEST_F(StoreCommand, AThrottledDeviceIsNotAccepted) {
  expect_complaint(refused([](Results& now) { now.quality.throttled = true; }), 3,
                   HasSubstr("the device was throttled"));
}

TEST_F(StoreCommand, AllThatIsWrongWithARunIsNamedAtOnce) {
  expect_complaint(refused([](Results& now) {
                     now.run.custom = {"--size=384"};
                     now.quality.throttled = true;
                   }),
                   3, AllOf(HasSubstr("the run was custom"), HasSubstr("was throttled")));
}

TEST_F(StoreCommand, AWrongResultIsNotAccepted) {
  expect_complaint(refused([](Results& now) { now.cases.front().check.status = "failed"; }), 1,
                   HasSubstr("the result is wrong or was not verified"));
}

TEST_F(StoreCommand, AResultThatNobodyCheckedIsNotAccepted) {
  expect_complaint(refused([](Results& now) { now.cases.front().check.status = "not_executed"; }),
                   1, HasSubstr("the result is wrong or was not verified"));
}

TEST_F(StoreCommand, ACrashedCaseIsNotAccepted) {
  expect_complaint(
      refused([](Results& now) {
        now.cases.front() = {
            .id = toy::step_id, .tier = "gate", .status = "crashed", .reason = "it fell"};
      }),
      3, HasSubstr("toy/step/n:64/f64: crashed"));
}

TEST_F(StoreCommand, AMissingCaseIsNotAccepted) {
  expect_complaint(refused([](Results& now) { now.cases.pop_back(); }), 3,
                   HasSubstr("toy/sum/n:64/f64 is listed and was not measured"));
}

TEST_F(StoreCommand, AMissingMetricIsNotAccepted) {
  expect_complaint(refused([](Results& now) { now.cases.front().metrics.erase("speedup"); }), 3,
                   HasSubstr("speedup is listed and was not measured"));
}

TEST_F(StoreCommand, ANoisyRatioIsNotAccepted) {
  expect_complaint(
      refused([](Results& now) {
        toy::metric(now, "case", "speedup") = {
            .kind = "ratio", .processes = {7, 8, 10, 12, 13}, .median = 10, .mad_between = 2};
      }),
      4, HasSubstr("is noisy: its processes differ by +20 %; --counts-only takes"));
}

TEST_F(StoreCommand, AnImpossibleSpeedIsNotAccepted) {
  expect_complaint(refused([](Results& now) {
                     toy::metric(now, "optimized", "floor_fraction") = {.kind = "advisory",
                                                                        .value = 1.5};
                   }),
                   1, HasSubstr("which no hardware allows"));
}

TEST_F(StoreCommand, FewerThanFiveProcessesNeedABootstrap) {
  const auto few = [](Results& now) {
    for (CaseResult& result : now.cases)
      result.metrics["speedup"] = {.kind = "ratio", .processes = {10}, .median = 10};
  };
  expect_complaint(refused(few), 4,
                   HasSubstr("comes from 1 of the 5 processes it needs (--bootstrap takes it all "
                             "the same); --counts-only takes what is not timed\n"));
  expect_complaint(refused([&](Results& now) {
                     few(now);
                     now.partial = true;
                   }),
                   3, AllOf(HasSubstr("of the 5 processes"), Not(HasSubstr("--counts-only"))));
  store(toy::host(), few);
  EXPECT_EQ(accept({"--bootstrap"}), 0) << complaints_;
}

TEST_F(StoreCommand, ARatioOfNoUndisturbedProcessIsNotAcceptedByABootstrapEither) {
  const auto disturbed = [](Results& now) {
    for (CaseResult& result : now.cases)
      result.metrics["speedup"] = {.kind = "ratio", .median = 102};
  };
  expect_complaint(refused(disturbed), 4, HasSubstr("comes from 0 of the 5 processes it needs"));
  expect_complaint(accept({"--bootstrap"}), 4,
                   HasSubstr("was disturbed by other work in every process"));
  EXPECT_FALSE(std::filesystem::exists(baseline(toy::host())));
  EXPECT_EQ(accept({"--counts-only"}), 0) << complaints_;
}

TEST_F(StoreCommand, RunsOfOneBuildAreAcceptedTogether) {
  const auto run_in = [&](const std::string& name, const std::function<void(Results&)>& edit) {
    Results run = toy::host();
    run.run.id = "2026-11-21T13:00:00Z-" + name;
    edit(run);
    store_in(folder_.path() / name, run);
    return "--again=" + (folder_.path() / name).string();
  };
  store(toy::host());
  const std::string good = run_in("good", [](Results&) {});
  const std::string slow = run_in(
      "slow", [](Results& run) { toy::metric(run, "case", "speedup") = toy::timed("ratio", 7); });
  expect_complaint(accept({run_in("other", [](Results& run) { run.run.content = "sha256:c1"; })}),
                   3, HasSubstr("is of sha256:c0; build and measure again"));
  EXPECT_EQ(accept({run_in("elsewhere", [](Results& run) { run.env.fingerprint = "sha256:f1"; })}),
            2);
  EXPECT_EQ(accept({good, good}), 2);
  EXPECT_EQ(accept({run_in("invalid", [](Results& run) { run.quality.valid = false; })}), 3);
  EXPECT_EQ(accept({good, slow}), 0) << complaints_;
  EXPECT_THAT(entry(toy::host(), step_speedup).medians, testing::ElementsAre(10, 10, 7));
}

TEST_F(StoreCommand, ARunThatJoinsNoEntryIsToldAndSoIsWhatNeedsAReason) {
  accepted(toy::host());
  const auto run_of = [](const std::string& name, double speedup) {
    Results run = toy::host();
    run.run.id = "2026-11-22T13:00:00Z-" + name;
    toy::metric(run, "case", "speedup") = toy::timed("ratio", speedup);
    return run;
  };
  std::vector<std::string> again;
  for (const char* name : {"slow", "good"}) {
    store_in(folder_.path() / name, run_of(name, name == std::string("slow") ? 7 : 9.9));
    again.push_back("--again=" + (folder_.path() / name).string());
  }
  store(run_of("first", 10.1));
  expect_output(accept(again), 0,
                AllOf(HasSubstr("0 of 10 entries changed"),
                      HasSubstr("left out: toy/step/n:64/f64|case|speedup of the run "
                                "2026-11-22T13:00:00Z-slow, 7: beyond the limit")));
  EXPECT_THAT(entry(toy::host(), step_speedup).medians, testing::ElementsAre(10, 10.1, 9.9));
  expect_output(accept(again), 0, AllOf(HasSubstr("nothing to change"), HasSubstr("left out")));
  store(run_of("worse", 7));
  expect_complaint(accept(), 2, AllOf(HasSubstr("10 -> 7  (worse)"), HasSubstr("needs a reason")));
}

TEST_F(StoreCommand, ResultsOfAnotherListAreNotAccepted) {
  EXPECT_EQ(refused([](Results& now) { now.list_hash = sha256("another"); }), 3);
}

TEST_F(StoreCommand, WhereNothingTellsOfWhichCodeTheBuildIsNothingIsAccepted) {
  const std::filesystem::path told = lists_ / "content.json";
  for (const char* left : {"{}", ""}) {
    std::filesystem::remove(told);
    if (*left) write_file(told, left);
    expect_complaint(refused([](Results&) {}), 3,
                     AllOf(HasSubstr(told.string() + " is not there, or not what a build writes"),
                           EndsWith("; build and measure again\n")));
    EXPECT_EQ(std::count(complaints_.begin(), complaints_.end(), '\n'), 1) << complaints_;
    EXPECT_EQ(check(), 3) << "as a check says";
  }
}

TEST_F(StoreCommand, ResultsOfOtherCodeThanTheBuildsAreNotAccepted) {
  write_file(lists_ / "content.json",
             R"({"content": "sha256:c1", "git": {"sha": "0123", "dirty": false}})");
  expect_complaint(refused([](Results&) {}), 3,
                   HasSubstr("measured of the content sha256:c0, and the build in " +
                             lists_.string() + " is of sha256:c1; build and measure again"));
  write_file(lists_ / "content.json",
             R"({"content": "sha256:c0", "git": {"sha": "0123", "dirty": false}})");
  EXPECT_EQ(accept(), 0) << complaints_;
}

}  // namespace
}  // namespace holdfast::gate
