// SPDX-License-Identifier: Apache-2.0
#include "gate/compare/comparison.hpp"

#include <gmock/gmock.h>

#include <cmath>

#include "gate/base/error.hpp"
#include "gate/compare/line_protocol.hpp"
#include "gate/testing/fake_build.hpp"

namespace holdfast::gate {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;
using testing::ThrowsMessage;

constexpr const char* add = "fake_suite/add/n:8/f64";

class Comparing : public testing::Test {
 protected:
  TemporaryFolder folder_{"comparison-test"};
  std::map<std::string, std::string> environment_ = {};
  // Few units, which equal units decide.
  ComparisonPlan plan_{
      .unit = {.seconds = 1e-3},
      .decision = {.clock = Clock::real, .looks = {.units = {5, 8}, .alpha = 0.2}}};

  Builds builds(double head_seconds) {
    return Builds({toy::fake_build(folder_.path() / "old", 1e-3), environment_},
                  {toy::fake_build(folder_.path() / "the new one", head_seconds), environment_});
  }
  Comparison compared(double head_seconds) { return compare(builds(head_seconds), add, plan_); }
  // Compares two builds that answer every sample with these words.
  Comparison compared(const std::string& words) {
    for (const char* build : {"old", "new"}) {
      fs::create_directories(folder_.path() / build);
      std::ofstream(folder_.path() / build / "fake_suite")
          << "#!/bin/sh\necho ready 3\nwhile read -r line; do case $line in batch*) echo ok;; "
          << "*) echo " << words << ";; esac; done\n";
    }
    return compare(Builds({folder_.path() / "old/fake_suite"}, {folder_.path() / "new/fake_suite"}),
                   add, plan_);
  }
  Fault fault_of(const std::string& behaviour) {
    environment_["FAKE_SUITE"] = behaviour;
    try {
      compared(1e-3);
    } catch (const Error& error) {
      return error.fault();
    }
    return Fault::regression;
  }
};

TEST_F(Comparing, BothBuildsRunFromPathsOfTheSameLength) {
  const Builds both = builds(1e-3);
  EXPECT_NE(both.base().binary, both.head().binary);
  EXPECT_EQ(both.base().binary.string().size(), both.head().binary.string().size());
}

TEST_F(Comparing, ABuildThatIsNotThereIsBadInput) {
  EXPECT_THAT([&] { Builds({folder_.path() / "none"}, {folder_.path() / "none"}); },
              ThrowsMessage<Error>(HasSubstr("cannot copy")));
}

TEST_F(Comparing, EqualBuildsPassAtTheFirstLook) {
  const Comparison found = compared(1e-3);
  EXPECT_EQ(found.decision, Paired::pass);
  EXPECT_THAT(found.units, SizeIs(5));
  EXPECT_NEAR(found.shift.estimate, 0, 1e-3);
}

TEST_F(Comparing, TheSlowerHeadHasThePositiveLogRatio) {
  const Comparison found = compared(1.1e-3);
  EXPECT_EQ(found.decision, Paired::regression);
  EXPECT_NEAR(found.shift.estimate, std::log(1.1), 1e-3);
}

TEST_F(Comparing, AFasterHeadIsAnImprovement) {
  EXPECT_EQ(compared(0.9e-3).decision, Paired::improved);
}

TEST_F(Comparing, LooksThatDecideNothingEndUndecidedWithAllUnits) {
  plan_.decision.looks.alpha = 0.001;  // eight units cannot be as sure as this
  const Comparison found = compared(1.1e-3);
  EXPECT_EQ(found.decision, Paired::undecided);
  EXPECT_THAT(found.units, SizeIs(8));
}

TEST_F(Comparing, ASpentBudgetEndsItBeforeTheFirstLook) {
  plan_.decision.budget_seconds = 1e-6;
  const Comparison found = compared(1.1e-3);
  EXPECT_EQ(found.decision, Paired::undecided);
  EXPECT_THAT(found.units, SizeIs(1));
}

TEST_F(Comparing, TheReferenceIsToldAsTheControl) {
  const Comparison found = compared(1.1e-3);
  ASSERT_TRUE(found.control.has_value());
  EXPECT_NEAR(found.control->estimate, 0, 1e-3);
  EXPECT_THAT(describe(found, plan_.decision.tolerance), HasSubstr(", the reference "));
}

TEST_F(Comparing, ACaseWithoutAReferenceHasNoControl) {
  environment_["FAKE_SUITE"] = "no_reference";
  const Comparison found = compared(1.1e-3);
  EXPECT_FALSE(found.control.has_value());
  EXPECT_EQ(found.decision, Paired::regression);
}

TEST_F(Comparing, TheCpuClockDecidesWhereItIsAskedTo) {
  plan_.decision.clock = Clock::cpu;  // the fake suite's is the same in every build
  EXPECT_EQ(compared(1.1e-3).decision, Paired::pass);
}

TEST_F(Comparing, SamplesOnAGpuThatWasSlowedDownAreLeftOutAndDecideNothingWhereMostWere) {
  environment_["FAKE_SUITE"] = "slowed_at_times";
  const Comparison few = compared(1.1e-3);
  EXPECT_EQ(few.decision, Paired::regression);
  EXPECT_GT(few.disturbed, 0);
  environment_["FAKE_SUITE"] = "slowed";
  const Comparison all = compared(1.1e-3);
  EXPECT_EQ(all.decision, Paired::undecided);
  EXPECT_EQ(all.disturbed, 1);
}

TEST_F(Comparing, EachRoundAsksBothBuildsInAnOrderDrawnAtRandom) {
  const fs::path log = folder_.path() / "log";
  environment_["FAKE_LOG"] = log.string();
  plan_.decision.looks = {.units = {40}, .alpha = 0.2};
  const Builds both = builds(1e-3);
  compare(both, add, plan_);
  std::ifstream in(log);
  int rounds = 0, base_first = 0;
  for (std::string first, second; std::getline(in, first) && std::getline(in, second); ++rounds) {
    EXPECT_NE(first, second);
    base_first += first == both.base().binary.parent_path();
  }
  EXPECT_GE(rounds, 200);
  EXPECT_GT(base_first, rounds / 4);
  EXPECT_LT(base_first, rounds * 3 / 4);
}

TEST_F(Comparing, AGpuThatTakesOneProcessTimesOneAfterTheOther) {
  environment_["FAKE_SUITE"] = "exclusive";
  plan_.unit.device = "cuda";
  const Comparison found = compared(1.1e-3);
  EXPECT_TRUE(found.alternating);
  EXPECT_EQ(found.decision, Paired::regression);
  EXPECT_NEAR(found.shift.estimate, std::log(1.1), 1e-3);
  EXPECT_TRUE(found.control.has_value());
  EXPECT_THAT(describe(found, plan_.decision.tolerance), HasSubstr(", one process at a time"));
}

TEST_F(Comparing, AGpuThatTakesNeitherOfTwoProcessesAtOnceTimesOneAfterTheOther) {
  environment_["FAKE_SUITE"] = "crowded";
  plan_.unit.device = "cuda";
  const Comparison found = compared(1.1e-3);
  EXPECT_TRUE(found.alternating);
  EXPECT_EQ(found.decision, Paired::regression);
}

TEST_F(Comparing, AHostThatTakesOneProcessIsAnError) {
  EXPECT_EQ(fault_of("exclusive"), Fault::incomplete);
}

TEST_F(Comparing, ABuildThatFailsOnAGpuByItselfIsNamed) {
  plan_.unit.device = "cuda";
  environment_["FAKE_SUITE"] = "head_refuses";
  EXPECT_THAT([&] { compared(1e-3); },
              ThrowsMessage<Error>(AllOf(HasSubstr("the head's"), HasSubstr("no case"))));
}

TEST_F(Comparing, ProcessesInAlternationGoBaseHeadHeadBaseOrTheOtherWayRound) {
  const fs::path starts = folder_.path() / "starts";
  environment_["FAKE_STARTS"] = starts.string();
  plan_.unit.alternating = true;
  plan_.decision.looks = {.units = {40}, .alpha = 0.2};
  compared(1e-3);
  std::ifstream in(starts);
  std::map<std::string, int> seen;
  for (std::string a, b, c, d; in >> a >> b >> c >> d;) ++seen[text(a, ' ', b, ' ', c, ' ', d)];
  EXPECT_EQ(seen["base head head base"] + seen["head base base head"], 20);
  EXPECT_THAT(seen, SizeIs(2)) << "the order is drawn";
}

TEST_F(Comparing, InAlternationDisturbedSamplesAreLeftOutOfEachProcessByItself) {
  environment_["FAKE_SUITE"] = "slowed_at_times";
  plan_.unit.alternating = true;
  plan_.unit.seconds = 0.02;
  const Comparison found = compared(1.1e-3);
  EXPECT_EQ(found.decision, Paired::regression);
  EXPECT_GT(found.disturbed, 0);
}

TEST_F(Comparing, ASuiteThatDiesIsIncompleteAndTellsItsLastWords) {
  environment_["FAKE_SUITE"] = "dies";
  EXPECT_THAT([&] { compared(1e-3); },
              ThrowsMessage<Error>(AllOf(HasSubstr("fake_suite was killed by signal 11 (SIGSEGV)"),
                                         HasSubstr("about to fall"))));
}

TEST_F(Comparing, NonsenseIsIncomplete) {
  EXPECT_EQ(fault_of("nonsense"), Fault::incomplete);
  EXPECT_EQ(fault_of("unready"), Fault::incomplete);
}

TEST_F(Comparing, ASampleThatTookNoTimeIsNone) {
  for (const char* words : {"0 1e-3", "1e-3 0", "-1e-3 1e-3"})
    EXPECT_THAT([&] { compared(words); },
                ThrowsMessage<Error>(HasSubstr(text("answered '", words, "' when asked for a "))));
}

TEST_F(Comparing, WaitsThatFellDecideNothingOfSeveralThreads) {
  plan_.decision.clock = Clock::cpu;
  EXPECT_EQ(compared("1e-3 2e-3 0").decision, Paired::pass);
  const Comparison fell = compared("1e-3 2e-3 -1e-4");
  EXPECT_EQ(fell.decision, Paired::undecided);
  EXPECT_EQ(fell.parallelism, std::nullopt);
}

TEST_F(Comparing, ARefusalIsPassedOn) {
  EXPECT_EQ(fault_of("no_device"), Fault::no_device);
  EXPECT_EQ(fault_of("refuse"), Fault::bad_input);
}

TEST(Comparison, AsksAPairThatWasSlowToBeReadyForMoreSamples) {
  EXPECT_EQ(sampling_seconds(0.3, 0.5), 0.3);
  EXPECT_EQ(sampling_seconds(0.3, 4), 1);
}

TEST(Comparison, FeelsNothingOfOthersWhoKeptNoThreadWaiting) {
  EXPECT_EQ(others_felt(0.9, 0.001), 0.001);
  EXPECT_EQ(others_felt(0.9, 0.5), 0.9);
  EXPECT_EQ(others_felt(0.05, 0.01), 0.01);
  EXPECT_EQ(others_felt(0.9, std::nullopt), 0.9);
}

TEST(Comparison, HasFourTimesItsBudgetOnABusyMachineAtMost) {
  EXPECT_EQ(stretched_budget(60, 0.1), 60);
  EXPECT_EQ(stretched_budget(60, 2.5), 150);
  EXPECT_EQ(stretched_budget(60, 9), 240);
}

TEST(Conversation, SilenceEndsAfterItsTime) {
  Conversation with(
      {.program = "/bin/sh", .arguments = {"-c", "read line"}, .timeout_seconds = 0.05});
  EXPECT_THAT([&] { with.read_line(); },
              ThrowsMessage<Error>(HasSubstr("said nothing for 0.05 s")));
}

TEST(Conversation, LinesThatComeTogetherAreHeardOneByOne) {
  Conversation with({.program = "/bin/sh", .arguments = {"-c", "printf 'a\\nb\\n'; read line"}});
  EXPECT_EQ(with.read_line(), "a");
  EXPECT_EQ(with.read_line(), "b");
}

}  // namespace
}  // namespace holdfast::gate
