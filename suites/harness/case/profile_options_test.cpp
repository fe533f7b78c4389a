// SPDX-License-Identifier: Apache-2.0
#include "harness/case/profile_options.hpp"

#include <gmock/gmock.h>

#include "harness/case/options.hpp"
#include "testing/error_of.hpp"

namespace holdfast {
namespace {

using testing::HasSubstr;

ProfileOptions parsed(const std::vector<std::string>& arguments) {
  return parse_options(arguments, {}).profiling;
}

std::string profile_complaint(const std::vector<std::string>& arguments) {
  return refusal_of([&] { return parsed(arguments); });
}

TEST(ProfileOptions, ProfileNothingUnlessAsked) {
  EXPECT_FALSE(parsed({"--device=host"}).profiles());
  EXPECT_FALSE(parsed({"--nvml-log=gpu.csv"}).profiles());
}

TEST(ProfileOptions, ThatNameAFolderAskForAProfile) {
  for (const char* option : {"--profile", "--trace", "--memory-profile", "--dump-kernels"})
    EXPECT_TRUE(parsed({option, "folder"}).profiles()) << option;
  EXPECT_TRUE(parsed({"--assert-mean=0.15"}).profiles());
}

TEST(ProfileOptions, ProfileTenStepsOfTheOptimizedVariant) {
  const ProfileOptions options = parsed({"--profile=p"});
  EXPECT_EQ(options.steps, 10);
  EXPECT_TRUE(options.wants(Variant::optimized));
  EXPECT_FALSE(options.wants(Variant::reference));
}

TEST(ProfileOptions, TakeBothVariants) {
  const ProfileOptions options = parsed({"--profile=p", "--variant=both"});
  EXPECT_TRUE(options.wants(Variant::optimized));
  EXPECT_TRUE(options.wants(Variant::reference));
}

TEST(ProfileOptions, RefuseAnotherVariant) {
  EXPECT_THAT(profile_complaint({"--profile=p", "--variant=fast"}),
              HasSubstr("optimized, reference"));
}

TEST(ProfileOptions, RefuseNumbersThatAreNone) {
  EXPECT_THAT(profile_complaint({"--profile=p", "--profile-steps=0"}), HasSubstr("1 or more"));
  EXPECT_THAT(profile_complaint({"--profile=p", "--profile-every=1e3"}), HasSubstr("whole number"));
  EXPECT_THAT(profile_complaint({"--assert-mean=0"}), HasSubstr("above zero"));
  EXPECT_THAT(profile_complaint({"--assert-mean=nan"}), HasSubstr("above zero"));
  EXPECT_THAT(profile_complaint({"--assert-mean=inf"}), HasSubstr("above zero"));
  EXPECT_THAT(profile_complaint({"--nvml-log=f", "--nvml-period=-1"}), HasSubstr("above zero"));
}

TEST(ProfileOptions, RefuseWindowsThatOverlap) {
  EXPECT_THAT(profile_complaint({"--profile=p", "--profile-every=5", "--profile-steps=6"}),
              HasSubstr("at most 5"));
  EXPECT_EQ(parsed({"--profile=p", "--profile-every=5", "--profile-steps=5"}).steps, 5);
}

TEST(ProfileOptions, RefuseAResultFileBesideThem) {
  EXPECT_THAT(profile_complaint({"--profile=p", "--out=r.json"}), HasSubstr("leave out --out"));
  EXPECT_THAT(profile_complaint({"--nvml-log=f", "--out=r.json"}), HasSubstr("leave out --out"));
}

TEST(ProfileOptions, RefuseGoogleBenchmarksFlagsBesideThem) {
  EXPECT_THAT(profile_complaint({"--profile=p", "--benchmark_format=json"}),
              HasSubstr("leave it out"));
}

TEST(ProfileOptions, ThatSayOnlyHowAreNotEnough) {
  EXPECT_THAT(profile_complaint({"--profile-steps=3"}), HasSubstr("add --profile=DIR"));
  EXPECT_THAT(profile_complaint({"--nvml-log=f", "--variant=both"}),
              HasSubstr("--variant says how"));
}

TEST(ProfileOptions, ThatSayNothingWithoutAnotherAreRefused) {
  EXPECT_EQ(profile_complaint({"--profile=p", "--profile-windows=2"}),
            "--profile-windows has no effect without --profile-every; give both, or leave it out");
  EXPECT_EQ(profile_complaint({"--nvml-period=1"}),
            "--nvml-period has no effect without --nvml-log; give both, or leave it out");
}

TEST(ProfileOptions, RefuseToAssertATimeWhereNothingRuns) {
  EXPECT_THAT(profile_complaint({"--device=cuda-dry:sm_90", "--assert-mean=1"}),
              HasSubstr("executes nothing"));
}

TEST(ProfileOptions, AreAllInTheHelp) {
  const std::string help = usage("toy", {}, "toy/step/n:8/f64");
  for (const OptionRow& row : profile_rows())
    EXPECT_THAT(help, HasSubstr("--" + std::string(row.name) + "="));
}

}  // namespace
}  // namespace holdfast
