// SPDX-License-Identifier: Apache-2.0
// The real binary as a user types it: what it says, which code it ends with, what it leaves behind.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "harness/shell.hpp"

namespace holdfast {
namespace {

using testing::HasSubstr;
using testing::Not;

class SuiteCommand : public testing::Test {
 protected:
  static Said suite(const std::string& options) { return run(HOLDFAST_SUITE " " + options); }
  static bool one_sentence(const Said& said) {
    return std::count(said.words.begin(), said.words.end(), '\n') == 1 &&
           said.words.starts_with("cubed_sphere_swe: ");
  }
  std::filesystem::path folder =
      fresh_folder(std::string("suite_command_") +
                   testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST_F(SuiteCommand, HelpShowsOptionsAndExamples) {
  const Said said = suite("--help");
  EXPECT_EQ(said.exit, 0);
  EXPECT_THAT(said.words, HasSubstr("--device=NAME"));
  EXPECT_THAT(said.words, HasSubstr("--size=N"));
  EXPECT_THAT(said.words, HasSubstr("examples:"));
}

TEST_F(SuiteCommand, AnUnknownDeviceIsOneSentenceAndUsage) {
  const Said said = suite("--device=tpu");
  EXPECT_EQ(said.exit, 2);
  EXPECT_TRUE(one_sentence(said)) << said.words;
  EXPECT_THAT(said.words, HasSubstr("tpu"));
}

TEST_F(SuiteCommand, AnUnknownOptionGetsASuggestion) {
  const Said said = suite("--divice=host");
  EXPECT_EQ(said.exit, 2);
  EXPECT_TRUE(one_sentence(said)) << said.words;
}

TEST_F(SuiteCommand, AFilterThatMatchesNothingIsUsage) {
  const Said said = suite("--filter=no_such_case");
  EXPECT_EQ(said.exit, 2);
  EXPECT_TRUE(one_sentence(said)) << said.words;
  EXPECT_THAT(said.words, HasSubstr("no_such_case"));
}

TEST_F(SuiteCommand, AFilterThatMatchesNothingIsUsageWithoutTheDeviceToo) {
  EXPECT_EQ(suite("--device=cuda:99 --filter=no_such_case").exit, 2);
}

TEST_F(SuiteCommand, AnUnknownFlagOfGoogleBenchmarkIsUsage) {
  EXPECT_EQ(suite("--benchmark_no_such_flag=1").exit, 2);
}

TEST_F(SuiteCommand, AnAbsentFolderForGoogleBenchmarksFileIsUsage) {
  const Said said = suite("--benchmark_out=" + (folder / "absent" / "out.json").string());
  EXPECT_EQ(said.exit, 2);
  EXPECT_TRUE(one_sentence(said)) << said.words;
}

TEST_F(SuiteCommand, AFolderThatTakesNoFileIsKnownBeforeAnythingIsMeasured) {
  const Said said = suite("--out=/proc/out.json");
  EXPECT_EQ(said.exit, 2);
  EXPECT_TRUE(one_sentence(said)) << said.words;
}

TEST_F(SuiteCommand, AnAbsentFolderIsUsageAndLeavesNothing) {
  const Said said = suite("--tier=smoke --out=" + (folder / "absent" / "out.json").string());
  EXPECT_EQ(said.exit, 2);
  EXPECT_TRUE(one_sentence(said)) << said.words;
  EXPECT_TRUE(std::filesystem::is_empty(folder));
}

TEST_F(SuiteCommand, AFolderAsOutputIsUsage) {
  const Said said = suite("--tier=smoke --out=" + folder.string());
  EXPECT_EQ(said.exit, 2);
  EXPECT_TRUE(one_sentence(said)) << said.words;
}

TEST_F(SuiteCommand, ASizeThatTheSchemeCannotTakeIsUsage) {
  const Said said = suite("--size=4");
  EXPECT_EQ(said.exit, 2);
  EXPECT_TRUE(one_sentence(said)) << said.words;
  EXPECT_THAT(said.words, HasSubstr("n must be >= 8"));
}

TEST_F(SuiteCommand, ALoopWithoutStepsIsUsage) {
  EXPECT_EQ(suite("--steps=0").exit, 2);
}

TEST_F(SuiteCommand, ASizeThatIsNoNumberIsUsage) {
  EXPECT_EQ(suite("--size=many").exit, 2);
}

TEST_F(SuiteCommand, TheListIsTheSameBytesEveryTime) {
  const Said first = suite("--list=json"), second = suite("--list=json");
  EXPECT_EQ(first.exit, 0);
  EXPECT_EQ(first.words, second.words);
  EXPECT_EQ(nlohmann::json::parse(first.words)["suite"], "cubed_sphere_swe");
}

TEST_F(SuiteCommand, TheListForPeopleHasALinePerCase) {
  EXPECT_THAT(suite("--list").words, HasSubstr("smoke  cubed_sphere_swe/rhs/n:24/f64"));
}

TEST_F(SuiteCommand, OneCaseIsMeasuredAndItsRunIsPartial) {
  const auto out = folder / "out.json";
  const Said said = suite("--filter='rhs/n:24' --out=" + out.string());
  EXPECT_EQ(said.exit, 0) << said.words;
  const auto results = nlohmann::json::parse(read(out));
  EXPECT_TRUE(results["partial"]);
  ASSERT_EQ(results["cases"].size(), 1);
  EXPECT_EQ(results["cases"][0]["check"]["status"], "passed");
  EXPECT_GT(results["cases"][0]["variants"]["optimized"]["metrics"]["time_s"]["median"], 0);
}

TEST_F(SuiteCommand, GoogleBenchmarksOwnFileStaysCleanJson) {
  const auto out = folder / "benchmark.json";
  const Said said =
      suite("--filter='rhs/n:24' --benchmark_repetitions=3 --benchmark_out=" + out.string());
  EXPECT_EQ(said.exit, 0) << said.words;
  const auto document = nlohmann::json::parse(read(out));
  EXPECT_EQ(document["context"]["executable"], HOLDFAST_SUITE);
  ASSERT_EQ(document["benchmarks"].size(), 1);
  EXPECT_EQ(document["benchmarks"][0]["label"], "cubed_sphere_swe/rhs/n:24/f64");
}

TEST_F(SuiteCommand, TheReportNamesDeviceTierAndCountAndHasALinePerCase) {
  EXPECT_THAT(
      suite("--tier=smoke --filter='rhs/n:24'").words,
      testing::MatchesRegex("cubed_sphere_swe on host, tier smoke: 1 case\n"
                            " +time +speedup +peak bytes +launches +case\n"
                            ".1/1. cubed_sphere_swe/rhs/n:24/f64\n"
                            " +[0-9.]+ us +[0-9.]+ +220592 +cubed_sphere_swe/rhs/n:24/f64\n"));
}

TEST_F(SuiteCommand, ACustomSizeMarksTheRun) {
  const auto out = folder / "out.json";
  const Said said = suite("--size=12 --steps=3 --out=" + out.string());
  EXPECT_EQ(said.exit, 0) << said.words;
  EXPECT_THAT(nlohmann::json::parse(read(out))["run"]["custom"],
              testing::ElementsAre("--size=12", "--steps=3"));
}

}  // namespace
}  // namespace holdfast
