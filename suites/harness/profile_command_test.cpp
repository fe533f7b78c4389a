// SPDX-License-Identifier: Apache-2.0
// The profiling flags as a user types them: files, messages, and the exit code.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "formats/schema_check.hpp"
#include "harness/testing/suite_command.hpp"

namespace holdfast {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class ProfileCommand : public SuiteInAShell {
 protected:
  json document(const std::string& name) const { return json::parse(read(folder / name)); }

  std::string in_folder = folder.string() + " ";
};

TEST_F(ProfileCommand, WritesADocumentPerVariantThatObeysItsSchema) {
  const Said said =
      suite("--filter='rhs/n:24/f64' --profile-steps=3 --variant=both --profile=" + in_folder +
            "--trace=" + in_folder);
  ASSERT_EQ(said.exit, 0) << said.words;
  const json root = schema("profile.schema.json");
  for (const std::string variant : {"reference", "optimized"}) {
    const std::string stem = "cubed_sphere_swe.rhs.n_24.f64." + variant;
    const json profile = document(stem + ".profile.json");
    validate(profile, root, root, "");
    EXPECT_EQ(profile["steps"], 3);
    EXPECT_EQ(profile["clock"], "host");
    EXPECT_EQ(profile["overview"]["step_s"].size(), 3);
    EXPECT_GT(profile["floor_s"], 0);
    EXPECT_EQ(profile["kernels_floor_s"], profile["floor_s"]) << "phases cost a host nothing";
    EXPECT_EQ(profile["trace"], stem + ".trace.json");
    EXPECT_FALSE(document(stem + ".trace.json")["traceEvents"].empty());
  }
  EXPECT_THAT(said.words, HasSubstr("https://ui.perfetto.dev"));
  EXPECT_THAT(said.words, HasSubstr("cubed_sphere_swe/rhs/n:24/f64 reference on host"));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 4);
}

TEST_F(ProfileCommand, SaysOfACaseWithoutAReferenceThatThereIsNoneToProfile) {
  const Said said =
      suite("--tier=smoke --filter='loop/n:24/' --variant=reference --profile=" + in_folder);
  EXPECT_EQ(said.exit, 0);
  EXPECT_THAT(said.words, HasSubstr("it has no reference variant to profile"));
  EXPECT_TRUE(std::filesystem::is_empty(folder));
}

TEST_F(ProfileCommand, ProfilesPeriodicallyAndWithoutCeilingsKnowsNoFloor) {
  const Said said = run("HOLDFAST_CEILINGS=none " CUBED_SPHERE_SWE_BINARY
                        " --filter='rhs/n:24/f64' --profile-every=5 --profile-steps=2 --profile=" +
                        in_folder);
  ASSERT_EQ(said.exit, 0) << said.words;
  const json profile = document("cubed_sphere_swe.rhs.n_24.f64.optimized.profile.json");
  EXPECT_TRUE(profile["floor_s"].is_null());
  ASSERT_EQ(profile["windows"].size(), 3);
  EXPECT_EQ(profile["windows"][2]["first_step"], 15);
  EXPECT_EQ(profile["steps"], 6);
}

TEST_F(ProfileCommand, AMeanStepThatIsTooLongIsExitOneWithBothNumbers) {
  const Said said = suite("--filter='rhs/n:24/f64' --assert-mean=1e-9");
  EXPECT_EQ(said.exit, 1);
  EXPECT_THAT(said.words, HasSubstr("the mean step took "));
  EXPECT_THAT(said.words, HasSubstr("--assert-mean=1e-09 allows less"));
}

TEST_F(ProfileCommand, ACaseThatRunsOutOfMemoryIsExitThreeAsWhereItIsMeasured) {
  const Said said =
      run("HOLDFAST_CEILINGS=none HOLDFAST_MEMORY_LIMIT_GB=1e-4 " CUBED_SPHERE_SWE_BINARY
          " --filter='rhs/n:24/f64' --profile-steps=1 --assert-mean=1e-9 --profile=" +
          in_folder);
  EXPECT_EQ(said.exit, 3) << said.words;
  EXPECT_THAT(said.words, HasSubstr("failed cubed_sphere_swe/rhs/n:24/f64: failed to allocate"));
}

TEST_F(ProfileCommand, AMeanStepThatIsShortEnoughIsWell) {
  EXPECT_EQ(suite("--filter='rhs/n:24/f64' --assert-mean=60").exit, 0);
}

TEST_F(ProfileCommand, TheMeanStepThatIsTooLongIsThatOfAllWindows) {
  const Said said = run("HOLDFAST_CEILINGS=none " CUBED_SPHERE_SWE_BINARY
                        " --filter='rhs/n:24/f64' --profile-every=3 --profile-steps=2 "
                        "--assert-mean=1e-9 --profile=" +
                        in_folder);
  ASSERT_EQ(said.exit, 1) << said.words;
  double mean = 0;
  const json profile = document("cubed_sphere_swe.rhs.n_24.f64.optimized.profile.json");
  for (const json& window : profile["windows"]) mean += window["mean_step_s"].get<double>() / 3;
  const std::string before = "the mean step took ";
  ASSERT_THAT(said.words, HasSubstr(before));
  const double told = std::stod(said.words.substr(said.words.find(before) + before.size()));
  EXPECT_NEAR(told, mean, 1e-4 * mean);
}

TEST_F(ProfileCommand, AFolderThatCannotBeMadeIsKnownBeforeAnythingRuns) {
  expect_usage(suite("--profile=/proc/profiles"));
}

TEST_F(ProfileCommand, AFileWhereAFolderIsWantedIsUsage) {
  std::ofstream(folder / "file") << "not a folder";
  expect_usage(suite("--trace=" + (folder / "file").string()));
}

TEST_F(ProfileCommand, WhatIsNotMadeOfStepsIsSkippedWithALine) {
  const Said said =
      suite("--tier=full --filter='(setup|rhs)/n:24/f64' --profile-steps=1 --trace=" + in_folder);
  EXPECT_EQ(said.exit, 0) << said.words;
  EXPECT_THAT(said.words, HasSubstr("setup/n:24/f64: not one repeated step"));
}

TEST_F(ProfileCommand, WhereNothingIsMadeOfStepsThereIsNothingToProfile) {
  const Said said = suite("--tier=full --filter='setup/n:24/f64' --trace=" + in_folder);
  EXPECT_EQ(said.exit, 2);
  EXPECT_THAT(said.words, HasSubstr("nothing was profiled"));
}

TEST_F(ProfileCommand, WithoutAGpuToSampleOneWarningIsAllThatChanges) {
  const auto log = folder / "gpu.csv";
  const Said said = suite("--filter='rhs/n:24/f64' --assert-mean=60 --nvml-log=" + log.string());
  EXPECT_EQ(said.exit, 0) << said.words;
  EXPECT_NE(std::filesystem::exists(log), said.words.find("is not written: ") != std::string::npos)
      << said.words;
}

TEST_F(ProfileCommand, ALogSettingThatMeansNothingIsKnownAtOnce) {
  expect_usage(run("HOLDFAST_LOG=loud " CUBED_SPHERE_SWE_BINARY " --trace=" + in_folder));
}

TEST_F(ProfileCommand, TheHostHasNoKernelsToDump) {
  const Said said = suite("--filter='rhs/n:24/f64' --dump-kernels=" + in_folder);
  EXPECT_EQ(said.exit, 0);
  EXPECT_THAT(said.words, HasSubstr("compiles no kernels"));
}

#ifdef HOLDFAST_CUDA
TEST_F(ProfileCommand, ADryDeviceTellsCountsLaunchesAndMemory) {
  const Said said = suite(
      "--device=cuda-dry:sm_90 --filter='rk4_step/n:24/f64' --profile=" + in_folder +
      "--trace=" + in_folder + "--dump-kernels=" + in_folder + "--memory-profile=" + in_folder);
  ASSERT_EQ(said.exit, 0) << said.words;
  const std::string stem = "cubed_sphere_swe.rk4_step.n_24.f64.optimized";
  const json profile = document(stem + ".profile.json");
  const json root = schema("profile.schema.json");
  validate(profile, root, root, "");
  EXPECT_EQ(profile["executed"], false);
  EXPECT_EQ(profile["overview"]["launches"], 4);
  EXPECT_TRUE(profile["overview"]["mean_step_s"].is_null());
  EXPECT_EQ(profile["compiles"].size(), 1);
  std::int64_t sum = 0;
  for (const json& bytes : profile["memory"]["peak_by_site"]) sum += bytes.get<std::int64_t>();
  EXPECT_EQ(sum, profile["memory"]["peak_bytes"]);

  const json launches = document(stem + "/launches.json");
  EXPECT_EQ(launches, json({{{"name", "stage<double>"}, {"class", "fused"}, {"count", 4}}}));
  for (const char* ending : {"cu", "ptx", "cubin"})
    EXPECT_FALSE(
        read(folder / stem / (std::string("cubed_sphere_swe.optimized.") + ending)).empty())
        << ending;
  EXPECT_TRUE(read(folder / (stem + ".pb.gz")).starts_with("\x1f\x8b"));
}
#endif

}  // namespace
}  // namespace holdfast
