// SPDX-License-Identifier: Apache-2.0
#include "harness/case/options.hpp"

#include <gmock/gmock.h>

#include "testing/error_of.hpp"

namespace holdfast {
namespace {

const std::vector<OptionRow> custom = {{"size", "N", "cells"}, {"large", "", "more of them"}};

std::string complaint(const std::vector<std::string>& arguments) {
  return refusal_of([&] { return parse_options(arguments, custom); });
}

TEST(Options, DefaultToTheGateTierOnTheHost) {
  const SuiteOptions options = parse_options({}, custom);
  EXPECT_EQ(options.device, "host");
  EXPECT_EQ(options.tier, "gate");
}

TEST(Options, TakeTheirValueWithOrWithoutEquals) {
  EXPECT_EQ(parse_options({"--device=cuda:1"}, custom).device, "cuda:1");
  EXPECT_EQ(parse_options({"--device", "cuda:1"}, custom).device, "cuda:1");
}

TEST(Options, OfTheSuiteAreKeptApart) {
  const SuiteOptions options = parse_options({"--size=12"}, custom);
  EXPECT_EQ(options.integer("size"), 12);
  EXPECT_EQ(options.integer("steps"), std::nullopt);
}

TEST(Options, OfGoogleBenchmarkPassThrough) {
  EXPECT_EQ(parse_options({"--benchmark_format=json"}, custom).benchmark_flags.at(0),
            "--benchmark_format=json");
}

TEST(Options, TakeGoogleBenchmarksFilterAsTheirs) {
  const SuiteOptions options = parse_options({"--benchmark_filter=n:24"}, custom);
  EXPECT_EQ(options.filter, "n:24");
  EXPECT_TRUE(options.benchmark_flags.empty());
  EXPECT_EQ(parse_options({"--benchmark_filter=all"}, custom).filter, "");
}

TEST(Options, RefuseAnotherFormatOfGoogleBenchmark) {
  EXPECT_THAT(complaint({"--benchmark_out_format=xml"}), testing::HasSubstr("json"));
}

TEST(Options, ThatAreMistypedGetASuggestion) {
  EXPECT_THAT(complaint({"--devize=host"}), testing::HasSubstr("did you mean --device?"));
  EXPECT_THAT(complaint({"--profilx=p"}), testing::HasSubstr("did you mean --profile?"))
      << "the first of those that are as alike";
}

TEST(Options, ThatShareOneLetterWithAnotherGetNoSuggestion) {
  EXPECT_THAT(complaint({"--dx=host"}), testing::HasSubstr("--dx; --help lists what there is"));
}

TEST(Options, WithoutTheirValueSayHowToWriteIt) {
  EXPECT_THAT(complaint({"--out"}), testing::HasSubstr("--out=FILE"));
}

TEST(Options, TakeNoOtherOptionForTheirValue) {
  EXPECT_THAT(complaint({"--out", "--tier=smoke"}), testing::HasSubstr("--out=FILE"));
}

TEST(Options, ThatAreNoOptionsAreNamed) {
  EXPECT_THAT(complaint({"host"}), testing::HasSubstr("'host'"));
}

TEST(Options, RefuseAFilterThatIsNoRegularExpression) {
  EXPECT_THAT(complaint({"--filter=n:(24"}), testing::HasSubstr("not a regular expression"));
}

TEST(Options, RefuseGoogleBenchmarksOwnWaysToSample) {
  for (const char* flag :
       {"--benchmark_repetitions=3", "--benchmark_min_time=1s", "--benchmark_min_warmup_time=1"})
    EXPECT_THAT(complaint({flag}), testing::HasSubstr("holdfast run --processes=N")) << flag;
}

TEST(Options, RefuseGoogleBenchmarksListInPlaceOfMeasuring) {
  for (const char* flag : {"--benchmark_list_tests", "--benchmark_list_tests=true"})
    EXPECT_THAT(complaint({flag}), testing::HasSubstr("--list shows what there is")) << flag;
}

TEST(Options, OfAListLeaveOutNothingThatTheyAreNotTold) {
  const SuiteOptions all = parse_options({"--list=json"}, custom);
  EXPECT_EQ(all.device, "");
  EXPECT_EQ(all.tier, "full");
  const SuiteOptions some = parse_options({"--list", "--device=cuda", "--tier=smoke"}, custom);
  EXPECT_EQ(some.device, "cuda");
  EXPECT_EQ(some.tier, "smoke");
}

TEST(Options, TakeTheFormatOfAListBehindItToo) {
  const SuiteOptions json = parse_options({"--list", "json", "--tier", "gate"}, custom);
  EXPECT_EQ(json.list, "json");
  EXPECT_EQ(json.tier, "gate");
  EXPECT_EQ(parse_options({"--list", "people"}, custom).list, "people");
  EXPECT_EQ(parse_options({"--list"}, custom).list, "people");
}

TEST(Options, RefuseAnotherListFormat) {
  EXPECT_THAT(complaint({"--list=xml"}), testing::HasSubstr("json"));
}

TEST(Options, HaveASwitchForTheLockStep) {
  EXPECT_FALSE(parse_options({}, custom).lock_step);
  EXPECT_TRUE(parse_options({"--lock-step", "--device=cuda"}, custom).lock_step);
}

TEST(Options, HaveASwitchForCounting) {
  EXPECT_FALSE(parse_options({}, custom).count_instructions);
  EXPECT_TRUE(parse_options({"--count-instructions"}, custom).count_instructions);
}

TEST(Options, RefuseASwitchWithAValue) {
  EXPECT_EQ(complaint({"--large=no"}), "--large is a switch and takes no value");
  EXPECT_EQ(complaint({"--help="}), "--help is a switch and takes no value");
  EXPECT_EQ(parse_options({"--large"}, custom).custom.at("large"), "on");
}

TEST(Options, AreGivenOnce) {
  EXPECT_EQ(complaint({"--tier=smoke", "--tier", "gate"}), "--tier is given twice; give it once");
  EXPECT_EQ(complaint({"--size=1", "--size=2"}), "--size is given twice; give it once");
  EXPECT_EQ(complaint({"--large", "--large"}), "--large is given twice; give it once");
  EXPECT_EQ(complaint({"--trace=a", "--trace=b"}), "--trace is given twice; give it once");
}

TEST(Options, OfGoogleBenchmarkMayRepeat) {
  const std::string flag = "--benchmark_context=a=b";
  EXPECT_EQ(parse_options({flag, flag}, custom).benchmark_flags.size(), 2u);
}

TEST(Options, RefuseWhatCountingHasNoUseFor) {
  EXPECT_THAT(complaint({"--count-instructions", "--out=x.json"}), testing::HasSubstr("--out"));
  EXPECT_THAT(complaint({"--count-instructions", "--lock-step"}),
              testing::HasSubstr("--count-instructions; leave it out"));
}

TEST(Options, RefuseWhatALockStepHasNoUseFor) {
  EXPECT_THAT(complaint({"--lock-step", "--out=x.json"}), testing::HasSubstr("--out"));
  EXPECT_THAT(complaint({"--lock-step", "--trace=x"}), testing::HasSubstr("profile"));
  EXPECT_THAT(complaint({"--lock-step", "--nvml-log=x"}), testing::HasSubstr("--nvml-log"));
  EXPECT_THAT(complaint({"--lock-step", "--benchmark_format=json"}),
              testing::HasSubstr("Google Benchmark"));
}

TEST(Options, RefuseANumberThatIsNone) {
  EXPECT_THROW((void)parse_options({"--size=12a"}, custom).integer("size"), Error);
}

TEST(Options, SayThatANumberIsTooLarge) {
  EXPECT_EQ(
      refusal_of([] { return parse_options({"--size=99999999999"}, custom).integer("size"); }),
      "--size=99999999999 is beyond what a number here may be; give at most 2147483647");
}

}  // namespace
}  // namespace holdfast
