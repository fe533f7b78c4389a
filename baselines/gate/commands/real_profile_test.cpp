// SPDX-License-Identifier: Apache-2.0
// The detectors on what real suites do: cubed_sphere_swe, whose reference variant projects edge by
// edge and corner by corner, and whose optimized variant has one kernel per stage; clusterless_kde,
// whose decode brings new spikes to the device in each step.
#include <gmock/gmock.h>

#include <algorithm>
#include <memory>

#include "gate/base/process.hpp"
#include "gate/documents/results_root.hpp"
#include "gate/explain/detectors.hpp"

namespace holdfast::gate {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* rk4_step = "cubed_sphere_swe/rk4_step/n:48/f64";

constexpr const char* decode = "clusterless_kde/decode/size:small/data:profile/f32";

// One case, profiled in both variants.
struct Profiled {
  TemporaryFolder folder{"real-profile-test"};
  const char* case_id;
  Outcome outcome;

  Profiled(const char* suite, const char* id)
      : case_id(id),
        outcome(run_task(
            {.program = HOLDFAST_BINARY,
             .arguments = {"profile", suite, id, "--variant=both", "--device=cuda-dry:sm_90",
                           "--steps=2", "--out=" + folder.path().string()},
             .timeout_seconds = 120})) {}

  std::vector<std::string> seen(const std::string& variant) const {
    const Profile profile = read_profile(folder.path() / profile_name(case_id, variant));
    std::vector<std::string> names;
    for (const Detection& found : examine(Sighting{.case_id = profile.case_id,
                                  .variant = variant,
                                  .device_class = profile.device_class,
                                  .profile = &profile}))
      names.push_back(found.detector);
    // How long the compiler takes depends on what else the machine does.
    std::erase(names, "compile_dominates");
    return names;
  }
};

class RealProfile : public testing::Test {
 protected:
  static inline std::unique_ptr<Profiled> step_;

  static void SetUpTestSuite() {
    step_ = std::make_unique<Profiled>(CUBED_SPHERE_SWE_BINARY, rk4_step);
  }
  static void TearDownTestSuite() { step_.reset(); }
};

TEST_F(RealProfile, IsShownAndSaysThatNothingWasExecuted) {
  ASSERT_EQ(step_->outcome.code, 0) << step_->outcome.complaints;
  EXPECT_THAT(step_->outcome.output, AllOf(HasSubstr("nothing was executed: counts are exact"),
                                           HasSubstr("per step: 888 launches"),
                                           HasSubstr("open the trace at https://ui.perfetto.dev")));
}

TEST_F(RealProfile, ShowsManyTinyKernelsAndScattersInTheReference) {
  ASSERT_EQ(step_->outcome.code, 0) << step_->outcome.complaints;
  EXPECT_THAT(step_->seen("reference"),
              AllOf(Contains("many_tiny_kernels"), Contains("many_scatters")));
}

TEST_F(RealProfile, ShowsNothingInTheOptimizedVariant) {
  ASSERT_EQ(step_->outcome.code, 0) << step_->outcome.complaints;
  EXPECT_THAT(step_->seen("optimized"), IsEmpty());
}

TEST(RealProfileOptions, AreRefusedByTheNamesThatWereTyped) {
  const auto refused = [](const std::vector<std::string>& options) {
    const TemporaryFolder folder("real-profile-test");
    Task task{.program = HOLDFAST_BINARY,
              .arguments = {"profile", CUBED_SPHERE_SWE_BINARY, rk4_step, "--device=host",
                            "--out=" + folder.path().string()},
              .timeout_seconds = 60};
    task.arguments.insert(task.arguments.end(), options.begin(), options.end());
    const Outcome outcome = run_task(task);
    EXPECT_EQ(outcome.code, 2) << outcome.complaints;
    return outcome.complaints;
  };
  EXPECT_THAT(refused({"--steps=0"}), HasSubstr(": --steps=0: give a whole number"));
  EXPECT_THAT(refused({"--every=5", "--steps=7"}),
              HasSubstr(": --steps=7: a window is longer than --every=5; give at most 5"));
}

// The host reads the mass back in every step of this loop, and waits for it.
TEST(RealLoop, ThatReadsBackOnPurposeIsExpectedToAndNothingStandsOut) {
  const Profiled profiled(CUBED_SPHERE_SWE_BINARY,
                          "cubed_sphere_swe/loop/n:48/steps:100/launch:host/diag:host/f64");
  ASSERT_EQ(profiled.outcome.code, 0) << profiled.outcome.complaints;
  EXPECT_THAT(profiled.seen("optimized"),
              testing::ElementsAre("transfers_in_the_loop", "syncs_in_the_loop"));
  EXPECT_THAT(profiled.outcome.output,
              AllOf(HasSubstr("what to look for\nnothing stands out\nas expected of"),
                    HasSubstr(": transfers_in_the_loop (it shows what reading"),
                    HasSubstr(": syncs_in_the_loop (the host waits for the mass")));
}

TEST(RealLists, ExpectFindingsByTheNamesOfDetectors) {
  std::size_t expected = 0;
  for (const List& list :
       lists_of_build(std::filesystem::path(CUBED_SPHERE_SWE_BINARY).parent_path()))
    for (const ListedCase& listed : list.cases)
      for (const ExpectedFinding& each : listed.expected) {
        ++expected;
        EXPECT_TRUE(std::any_of(detectors().begin(), detectors().end(),
                                [&](const Detector& one) { return one.name == each.finding; }))
            << listed.id << ": " << each.finding;
      }
  EXPECT_GT(expected, 0u);
}

TEST(RealDecode, IsNotBlamedForTheSpikesThatItMustBring) {
  const Profiled profiled(CLUSTERLESS_KDE_BINARY, decode);
  ASSERT_EQ(profiled.outcome.code, 0) << profiled.outcome.complaints;
  EXPECT_THAT(profiled.outcome.output, HasSubstr("B to the device"));
  EXPECT_THAT(profiled.seen("optimized"), IsEmpty());
}

}  // namespace
}  // namespace holdfast::gate
