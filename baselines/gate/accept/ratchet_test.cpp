// SPDX-License-Identifier: Apache-2.0
// The real `holdfast check` on improvements: what it proposes, and what it needs to see first.
#include "gate/accept/ratchet.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "gate/testing/gate_command.hpp"

namespace holdfast::gate {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* ratio_key = "toy/step/n:64/f64|case|speedup";

class Ratcheting : public GateCommand {
 protected:
  const std::filesystem::path again_ = folder_.path() / "again";
  const std::filesystem::path store_ = folder_.path() / "history";
  const std::filesystem::path patch_ = results_ / "proposed-baseline.patch";

  static Results run_of(double speedup, const std::string& utc) {
    Results now = toy::host();
    now.run.id = utc + "-0001";
    now.run.utc = utc;
    now.run.git_sha = sha256(utc).substr(7, 40);
    toy::metric(now, "case", "speedup") = toy::timed("ratio", speedup);
    return now;
  }
  void a_better_run() {
    accepted(toy::host());
    store(run_of(12, "2026-11-22T12:00:00Z"));
  }
  // With a second run.
  int check_again(const Results& second) {
    store_in(again_, second);
    return check({"--again=" + again_.string()});
  }
  void remember(const Results& results) {
    store(results);
    ASSERT_EQ(holdfast({"history", "append", results_.string(), "--store=" + store_.string()}), 0)
        << complaints_;
  }
  bool proposed() const { return std::filesystem::exists(patch_); }
  Baseline seen() const { return seen_on(toy::processor, read_baseline(baseline(toy::host()))); }
  double accepted_speedup() { return std::get<double>(seen().entries.at(ratio_key).value); }
};

TEST_F(Ratcheting, OneLuckyRunProposesNothing) {
  a_better_run();
  expect_output(check(), 0, AllOf(HasSubstr("IMPROVED"), HasSubstr("not proposed yet")));
  EXPECT_FALSE(proposed());
}

TEST_F(Ratcheting, InvalidRunsOfTheHistoryConfirmNothing) {
  accepted(toy::host());
  for (const char* utc : {"2026-11-22T12:00:00Z", "2026-11-23T12:00:00Z"}) {
    Results invalid = run_of(12, utc);
    invalid.quality.valid = false;
    invalid.quality.reasons = {"the hypervisor kept the CPUs"};
    remember(invalid);
  }
  store(run_of(12, "2026-11-24T12:00:00Z"));
  expect_output(check({"--store=" + store_.string()}), 0, HasSubstr("not proposed yet"));
  EXPECT_FALSE(proposed());
}

TEST_F(Ratcheting, ASecondFreshRunProposesTheMiddleOfBothAndAcceptsNothing) {
  a_better_run();
  expect_output(check_again(run_of(13, "2026-11-22T13:00:00Z")), 0,
                AllOf(HasSubstr("proposed: 2 runs in a row are better, 12.5 in the middle"),
                      HasSubstr("nothing accepts it by itself")));
  EXPECT_TRUE(proposed());
  EXPECT_EQ(accepted_speedup(), 10);
}

TEST_F(Ratcheting, WhatIsWonBackOfALossLeavesWhereDriftBegins) {
  git({"init", "-q"});
  accepted(toy::host());
  Baseline lost = read_baseline(baseline(toy::host()));
  lost.processors.at(toy::processor).at(ratio_key).anchor = 20;
  write_file(baseline(toy::host()), baseline_text(lost));
  store(run_of(12, "2026-11-22T12:00:00Z"));
  ASSERT_EQ(check_again(run_of(13, "2026-11-22T13:00:00Z")), 0);
  git({"apply", patch_.string()});
  EXPECT_EQ(seen().entries.at(ratio_key).value, Value(12.5));
  EXPECT_EQ(seen().entries.at(ratio_key).anchor, 20);
}

TEST_F(Ratcheting, WhatIsProposedAppliesWithGit) {
  git({"init", "-q"});
  accepted(toy::host());
  git({"add", "."});
  git({"commit", "-q", "-m", "first"});
  store(run_of(12, "2026-11-22T12:00:00Z"));
  ASSERT_EQ(check_again(run_of(13, "2026-11-22T13:00:00Z")), 0);
  git({"apply", patch_.string()});
  const Entry entry = seen().entries.at(ratio_key);
  EXPECT_EQ(entry.value, Value(12.5));
  EXPECT_EQ(entry.anchor, 12.5);
  EXPECT_EQ(entry.accepted.previous, Value(10.0));
  EXPECT_EQ(entry.accepted.why, "proposed by holdfast check: better for good");
  expect_output(check(), 0, Not(HasSubstr("IMPROVED")));
}

// As many ids as medians, so that none of them joins the entry once more.
TEST_F(Ratcheting, WhatIsProposedNamesEachOfItsRuns) {
  git({"init", "-q"});
  a_better_run();
  const Results second = run_of(13, "2026-11-23T13:00:00Z");
  ASSERT_EQ(check_again(second), 0);
  git({"apply", patch_.string()});
  const Entry entry = seen().entries.at(ratio_key);
  EXPECT_THAT(entry.medians, testing::ElementsAre(13, 12));
  EXPECT_THAT(entry.accepted.runs,
              testing::ElementsAre("2026-11-23T13:00:00Z-0001", "2026-11-22T12:00:00Z-0001"));
  EXPECT_EQ(entry.days, 2);
  accepted(second);
  EXPECT_THAT(seen().entries.at(ratio_key).medians, testing::SizeIs(2));
}

TEST_F(Ratcheting, ASecondRunWithinTheLimitProposesNothing) {
  a_better_run();
  EXPECT_EQ(check_again(run_of(10.2, "2026-11-22T13:00:00Z")), 0);
  EXPECT_FALSE(proposed());
}

TEST_F(Ratcheting, ALossWithinTwiceTheLimitIsDecidedByASecondRunThatShowsItAsWell) {
  accepted(toy::host());
  store(run_of(9.3, "2026-11-22T12:00:00Z"));
  expect_output(check(), 4, HasSubstr("or a second run of this build (--again) shows it as well"));
  expect_output(check_again(run_of(10, "2026-11-22T13:00:00Z")), 4,
                HasSubstr("undecided, because not every run of this build shows it"));
  expect_output(check_again(run_of(9.2, "2026-11-22T13:00:00Z")), 1,
                HasSubstr("1 other run of this build shows it as well"));
}

TEST_F(Ratcheting, TheSameRunIsNoSecondOne) {
  a_better_run();
  expect_complaint(check({"--again=" + results_.string()}), 2,
                   HasSubstr("give a second run of the same build"));
}

// What another run of the build failed at is a finding, and nothing that could be passed over.
TEST_F(Ratcheting, ASecondRunWithACaseThatIsLostOrWrongThereAloneIsJudgedFirst) {
  a_better_run();
  const auto wrong = [](CaseResult& result) { result.check.error = 1; };
  const auto crashed = [](CaseResult& result) {
    result.status = "crashed";
    result.reason = "signal 11";
  };
  const auto with = [&](const auto& change) {
    Results again = run_of(13, "2026-11-22T13:00:00Z");
    change(again.cases.front());
    return again;
  };
  EXPECT_EQ(check_again(with(wrong)), 2);
  expect_complaint(check({"--again=" + again_.string()}), 2,
                   AllOf(HasSubstr(" is 'wrong' there and not in this run; judge that one first: "),
                         HasSubstr(again_.string())));
  EXPECT_EQ(check_again(with(crashed)), 2);
  expect_complaint(check({"--again=" + again_.string()}), 2, HasSubstr(" is 'crashed' there and"));

  Results both = run_of(12, "2026-11-22T12:00:00Z");
  crashed(both.cases.front());
  store(both);
  EXPECT_EQ(check_again(with(crashed)), 3) << "both runs say so, and the first is judged";
}

// Also for a run for which nothing could be proposed.
TEST_F(Ratcheting, WhatIsNoFolderIsNoSecondRunAndNoHistory) {
  Results part = run_of(12, "2026-11-22T12:00:00Z");
  part.partial = true;
  store(part);
  expect_complaint(check({"--again=" + (folder_.path() / "none").string()}), 2,
                   HasSubstr("none: is not a folder of results"));
  const std::filesystem::path file = folder_.path() / "file";
  write_file(file, "");
  expect_complaint(check({"--store=" + file.string()}), 2, HasSubstr("file: is not a folder"));
}

TEST_F(Ratcheting, ARunWhoseThreadsStoodApartIsNoSecondOne) {
  a_better_run();
  Results other = run_of(13, "2026-11-22T13:00:00Z");
  other.cases.front().metrics["handover_s"] = toy::timed("time", 350e-9);
  expect_complaint(check_again(other), 2,
                   HasSubstr("as timed on AuthenticAMD-26-2 apart, and not on AuthenticAMD-26-2"));
}

TEST_F(Ratcheting, ARunOfAnotherBuildIsNoSecondOne) {
  a_better_run();
  Results other = run_of(13, "2026-11-22T13:00:00Z");
  other.run.content = "sha256:c1";
  expect_complaint(check_again(other), 2, HasSubstr("of another build"));
}

TEST_F(Ratcheting, ARunThatMayNotBeAcceptedIsNoSecondOne) {
  a_better_run();
  const auto refused = [&](const std::function<void(Results&)>& spoil) {
    Results other = run_of(13, "2026-11-22T13:00:00Z");
    spoil(other);
    return check_again(other);
  };
  EXPECT_EQ(refused([](Results&) {}), 0) << complaints_;
  EXPECT_EQ(refused([](Results& other) { other.partial = true; }), 2);
  EXPECT_EQ(refused([](Results& other) { other.quality.throttled = true; }), 2);
  EXPECT_EQ(refused([](Results& other) { other.list_hash = "sha256:other"; }), 2);
}

TEST_F(Ratcheting, ThreeRunsInARowOfTheHistoryPropose) {
  accepted(toy::host());
  remember(run_of(12, "2026-11-22T12:00:00Z"));
  remember(run_of(13, "2026-11-23T12:00:00Z"));
  store(run_of(12.2, "2026-11-24T12:00:00Z"));
  expect_output(check({"--store=" + store_.string()}), 0,
                HasSubstr("proposed: 3 runs in a row are better, 12.2 in the middle"));
  git({"init", "-q"});
  git({"apply", patch_.string()});
  const Entry entry = seen().entries.at(ratio_key);
  EXPECT_THAT(entry.accepted.runs,
              testing::ElementsAre("2026-11-22T12:00:00Z-0001", "2026-11-23T12:00:00Z-0001",
                                   "2026-11-24T12:00:00Z-0001"));
  EXPECT_EQ(entry.days, 3);
}

TEST_F(Ratcheting, ARunWithinTheLimitBeginsTheCountAnew) {
  accepted(toy::host());
  remember(run_of(12, "2026-11-22T12:00:00Z"));
  remember(run_of(13, "2026-11-23T12:00:00Z"));
  remember(run_of(10, "2026-11-24T12:00:00Z"));
  store(run_of(12.2, "2026-11-25T12:00:00Z"));
  EXPECT_EQ(check({"--store=" + store_.string()}), 0);
  EXPECT_FALSE(proposed());
}

TEST_F(Ratcheting, TheRunItselfInTheHistoryIsNoEarlierOne) {
  accepted(toy::host());
  remember(run_of(12, "2026-11-22T12:00:00Z"));
  remember(run_of(12, "2026-11-23T12:00:00Z"));
  EXPECT_EQ(check({"--store=" + store_.string()}), 0);
  EXPECT_FALSE(proposed());
}

// Each run is accepted, with a reason only if one is required.
TEST_F(Ratcheting, ManySmallLossesAreToldFromTheFirstOneBeyondFivePercentOn) {
  bool asked = false;
  for (int run = 0; run < 16; ++run) {
    const double speedup = 10 * std::pow(0.985, run);
    store(run_of(speedup, text("2026-11-", 10 + run, "T12:00:00Z")));
    if (run > 0) {
      check();
      const Verdict said = verdict();
      const auto row = std::ranges::find_if(said.rows, [](const Row& one) {
        return one.case_id == toy::step_id && one.metric == "speedup";
      });
      ASSERT_NE(row, said.rows.end());
      const bool is_told = row->verdict == verdict::drift || row->verdict == verdict::noisy ||
                           row->verdict == verdict::regression;
      EXPECT_EQ(is_told, speedup < 9.5) << speedup << ": " << row->sentence;
    }
    if (accept() == 0) continue;
    asked = true;
    EXPECT_EQ(accept({"--why=slower"}), 0) << complaints_;
  }
  EXPECT_TRUE(asked) << "no step of it was a loss";
  EXPECT_EQ(seen().entries.at(ratio_key).anchor, 10);
}

TEST_F(Ratcheting, ACountIsProposedAtOnce) {
  measured_anew(toy::dry(), "optimized", "launches", toy::exact(3));
  expect_output(check(), 0, HasSubstr("a count does not change by chance"));
  EXPECT_TRUE(proposed());
}

TEST_F(Ratcheting, ACountThatAnotherRunOfTheBuildGivesOtherwiseIsUndecided) {
  measured_anew(toy::dry());
  const auto other = [](const auto& change) {
    Results run = toy::dry();
    run.run.id = "2026-11-22T13:00:00Z-0001";
    change(run);
    return run;
  };
  const auto counted = [&](double launches) {
    return other(
        [&](Results& run) { toy::metric(run, "optimized", "launches") = toy::exact(launches); });
  };
  for (const double launches : {3., 5.})
    expect_output(check_again(counted(launches)), 4,
                  AllOf(HasSubstr("NOISY"), HasSubstr("(--again) differs"),
                        HasSubstr(text("again         ", launches, " in another run"))));
  EXPECT_EQ(check_again(counted(4)), 0) << output_ << complaints_;
  expect_output(check_again(other([](Results& run) {
                  run.cases.front().variants["optimized"].identity = "sha256:cc";
                })),
                0, AllOf(HasSubstr("NOISY"), HasSubstr("again         sha256:cc")));
}

TEST_F(Ratcheting, ACountIsNotProposedThatAnotherRunOfTheBuildDoesNotShow) {
  measured_anew(toy::dry(), "optimized", "launches", toy::exact(3));
  Results other = toy::dry();
  other.run.id = "2026-11-22T13:00:00Z-0001";
  for (const char* undecided : {"fail", "warn"}) {
    store_in(again_, other);
    check({"--again=" + again_.string(), text("--undecided=", undecided)});
    EXPECT_THAT(output_, HasSubstr("NOISY"));
    EXPECT_FALSE(proposed()) << undecided;
  }
}

TEST_F(Ratcheting, ALossOfACountThatAnotherRunDoesNotShowIsStillOneAndSaysSo) {
  measured_anew(toy::dry(), "optimized", "launches", toy::exact(5));
  Results other = toy::dry();
  other.run.id = "2026-11-22T13:00:00Z-0001";
  expect_output(check_again(other), 1,
                AllOf(HasSubstr("REGRESSION"), HasSubstr("4 in another run of this build")));
}

TEST_F(Ratcheting, AFilteredRunProposesNothing) {
  measured_anew(toy::dry(), [](Results& now) {
    now.partial = true;
    toy::metric(now, "optimized", "launches") = toy::exact(3);
  });
  EXPECT_EQ(check(), 0);
  EXPECT_FALSE(proposed());
}

}  // namespace
}  // namespace holdfast::gate
