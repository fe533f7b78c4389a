// SPDX-License-Identifier: Apache-2.0
// The real `holdfast profile` and `holdfast run --profile`, on a suite that behaves as FAKE_SUITE
// says.
#include <gmock/gmock.h>

#include <set>

#include "gate/documents/results.hpp"
#include "gate/documents/results_root.hpp"
#include "gate/testing/fake_suite_command.hpp"

namespace holdfast::gate {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

constexpr const char* add = "fake_suite/add/n:8/f64";

class ProfileCommand : public FakeSuiteCommand {
 protected:
  const fs::path out_ = folder_.path() / "profile";
  const fs::path profiles_ = kept_ / "profiles" / "fake_suite";

  Outcome profile(const std::string& behaviour, const std::string& id,
                  const std::vector<std::string>& more = {}) {
    return holdfast(behaviour, toy::joined({"profile", FAKE_SUITE_BINARY, id, "--device=host",
                                            "--out=" + out_.string()},
                                           more));
  }
  Outcome run_profiled(const std::string& behaviour) const {
    return run(behaviour, {"--processes=1", "--profile"});
  }
};

TEST_F(ProfileCommand, ShowsWhatTheStepsDidFromAllSides) {
  const Outcome outcome = profile("ok", add);
  EXPECT_EQ(outcome.code, 0) << outcome.complaints;
  EXPECT_THAT(outcome.output,
              AllOf(HasSubstr("fake_suite/add/n:8/f64  optimized  on fake (host)"),
                    HasSubstr("10 steps, mean step 605 us (600 us .. 610 us), busy 95 %"),
                    HasSubstr("per step: 12 launches"), HasSubstr("longest gap 2 us")));
  EXPECT_THAT(outcome.output, testing::ContainsRegex("stage +fused +40 +2.6 ms +65 us +30 %"));
  EXPECT_THAT(outcome.output, testing::ContainsRegex("\n    rhs +40 +60 us"));
  EXPECT_THAT(outcome.output, testing::ContainsRegex("state +682 kB +57.9 %"));
  EXPECT_THAT(outcome.output, AllOf(HasSubstr("first use"), HasSubstr("nothing stands out")));
}

TEST_F(ProfileCommand, SaysWhereTheFilesAreAndWhatOpensThem) {
  const Outcome outcome = profile("ok", add);
  EXPECT_THAT(outcome.output, AllOf(HasSubstr("open the trace at https://ui.perfetto.dev"),
                                    HasSubstr("fake_suite.add.n_8.f64.optimized.trace.json")));
  EXPECT_TRUE(fs::exists(out_ / profile_name(add, "optimized")));
}

TEST_F(ProfileCommand, GivesTheSuiteNoTimeOfNothing) {
  for (const char* timeout : {"--timeout=0", "--timeout=-1", "--timeout=nan"}) {
    const Outcome outcome = profile("ok", add, {timeout});
    EXPECT_EQ(outcome.code, 2) << timeout;
    EXPECT_EQ(outcome.complaints, text("holdfast: ", timeout, ": give a positive number\n"));
  }
}

TEST_F(ProfileCommand, TakesEnoughOfAnId) {
  EXPECT_EQ(profile("ok", "add/").code, 0);
  EXPECT_TRUE(fs::exists(out_ / profile_name(add, "optimized")));
  EXPECT_FALSE(fs::exists(out_ / profile_name("fake_suite/scale/n:8/f64", "optimized")));
}

TEST_F(ProfileCommand, ListsTheCasesWhereSeveralMatch) {
  expect_complaint(profile("ok", "n:8"), 2,
                   AllOf(HasSubstr("is part of 2 cases"), HasSubstr(add),
                         HasSubstr("fake_suite/scale/n:8/f64")));
}

TEST_F(ProfileCommand, NamesTheNearestCaseForATypingError) {
  expect_complaint(profile("ok", "fake_suite/adt/n:8/f64"), 2,
                   HasSubstr("did you mean fake_suite/add/n:8/f64?"));
}

TEST_F(ProfileCommand, ShowsBothVariants) {
  const Outcome outcome = profile("ok", add, {"--variant=both"});
  EXPECT_THAT(outcome.output,
              AllOf(HasSubstr("f64  optimized  on"), HasSubstr("f64  reference  on")));
}

TEST_F(ProfileCommand, FailsWhereTheMeanStepIsTooLong) {
  const Outcome outcome = profile("ok", add, {"--assert-mean=0.0001"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.complaints, HasSubstr("takes 605 us, above --assert-mean"));
  EXPECT_THAT(outcome.output, HasSubstr("mean step 605 us"))
      << "what was seen is shown all the same";
}

TEST_F(ProfileCommand, TellsAMachineWithoutTheDeviceApart) {
  expect_complaint(profile("no_device", add), 77, HasSubstr("this machine has no CUDA device"));
}

TEST_F(ProfileCommand, SaysThatTheSuiteFell) {
  expect_complaint(profile("profile_crash", add), 3,
                   AllOf(HasSubstr("SIGSEGV"), HasSubstr("about to fall")));
}

TEST_F(ProfileCommand, PassesOnWhatTheSuiteWarnsOf) {
  const Outcome outcome = profile("profile_warns", add);
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.complaints, "fake_suite: warning: no samples: \\x1b[2J\n");
}

TEST_F(ProfileCommand, NeverShowsAnOlderProfile) {
  ASSERT_EQ(profile("ok", add).code, 0);
  const Outcome outcome = profile("profile_silent", add);
  EXPECT_EQ(outcome.code, 3);
  EXPECT_THAT(outcome.complaints, HasSubstr("wrote no profile"));
  EXPECT_THAT(outcome.output, Not(HasSubstr("605 us")));
}

// A mistyped command, or a machine without the device, costs no profile.
TEST_F(ProfileCommand, AnOlderProfileStaysWhereTheSuiteRefuses) {
  ASSERT_EQ(profile("ok", add).code, 0);
  const auto files = [&] {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(out_)) names.insert(entry.path().filename());
    return names;
  };
  const std::set<std::string> before = files();
  ASSERT_FALSE(before.empty());
  EXPECT_EQ(profile("no_device", add).code, 77);
  EXPECT_EQ(files(), before);
  EXPECT_EQ(profile("profile_silent", add).code, 3);
  EXPECT_THAT(files(), SizeIs(testing::Lt(before.size()))) << "of one that ran none is left";
}

TEST_F(ProfileCommand, WhatAKilledCommandSetAsideComesBack) {
  ASSERT_EQ(profile("ok", add).code, 0);
  const fs::path document = out_ / "fake_suite.add.n_8.f64.optimized.profile.json";
  ASSERT_TRUE(fs::exists(document)) << "named otherwise";
  const fs::path aside = out_ / ".fake_suite.add.n_8.f64.older";
  fs::path whole = out_;
  whole += "_whole";
  fs::rename(out_, whole);
  fs::create_directory(out_);
  fs::rename(whole, aside);
  EXPECT_EQ(profile("no_device", add).code, 77);
  EXPECT_TRUE(fs::exists(document));
  EXPECT_FALSE(fs::exists(aside));
}

TEST_F(ProfileCommand, RefusesABrokenDocumentWithFileAndKey) {
  expect_complaint(profile("profile_broken", add), 2,
                   AllOf(HasSubstr(".profile.json:"), HasSubstr("overview")));
}

TEST_F(ProfileCommand, PrintsLessWhenAskedTo) {
  const Outcome quiet = profile("ok", add, {"--quiet"});
  EXPECT_THAT(quiet.output, AllOf(HasSubstr("mean step 605 us"), Not(HasSubstr("681984"))));
  const Outcome trace = profile("ok", add, {"--trace"});
  EXPECT_EQ(trace.output, (out_ / "fake_suite.add.n_8.f64.optimized.trace.json").string() + "\n");
}

TEST_F(ProfileCommand, ExplainsItself) {
  expect_output(holdfast("ok", {"profile", "--help"}), 0,
                AllOf(HasSubstr("examples:"), HasSubstr("--assert-mean=SECONDS")));
  expect_complaint(holdfast("ok", {"profile"}), 2, HasSubstr("usage: holdfast profile"));
  EXPECT_EQ(profile("ok", add, {"--stpes=3"}).code, 2);
  expect_complaint(holdfast("ok", {"profile", FAKE_SUITE_BINARY, add}), 2,
                   HasSubstr("needs --device=D"));
}

TEST_F(ProfileCommand, ARunProfilesEachCaseOnceMore) {
  const Outcome outcome = run_profiled("ok");
  EXPECT_EQ(outcome.code, 0) << outcome.complaints;
  const std::vector<Profile> profiles = read_root_profiles(results_, "host-fake-1t", "fake_suite");
  EXPECT_THAT(profiles, SizeIs(4)) << "two cases in two variants";
  EXPECT_THAT(read_results(kept_ / "fake_suite.json").cases, SizeIs(2));
}

TEST_F(ProfileCommand, AProfileThatFailsIsAWarningOfTheRun) {
  for (const char* behaviour : {"profile_crash", "profile_broken", "profile_silent"}) {
    const Outcome outcome = run_profiled(behaviour);
    EXPECT_EQ(outcome.code, 0) << behaviour;
    EXPECT_THAT(outcome.complaints, HasSubstr("warning: the results stay without profiles"));
    EXPECT_FALSE(fs::exists(profiles_)) << behaviour;
    EXPECT_THAT(read_results(kept_ / "fake_suite.json").cases, SizeIs(2));
  }
}

TEST_F(ProfileCommand, ACaseThatRanOutOfMemoryCostsTheOthersNoProfile) {
  expect_complaint(run_profiled("profile_exhausts"), 0,
                   HasSubstr("warning: not every case has a profile"));
  EXPECT_TRUE(fs::exists(profiles_));
}

TEST_F(ProfileCommand, ANewRunKeepsNoProfileOfAnOlderOne) {
  run_profiled("ok");
  ASSERT_TRUE(fs::exists(profiles_));
  run("ok", {"--processes=1"});
  EXPECT_FALSE(fs::exists(profiles_));
}

}  // namespace
}  // namespace holdfast::gate
