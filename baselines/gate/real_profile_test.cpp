// SPDX-License-Identifier: Apache-2.0
// The detectors on what a real suite does: cubed_sphere_swe, whose reference variant projects edge
// by edge and corner by corner, and whose optimized variant has one kernel per stage.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "gate/detectors.hpp"
#include "gate/process.hpp"
#include "gate/profiles.hpp"

namespace holdfast::gate {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* rk4_step = "cubed_sphere_swe/rk4_step/n:48/f64";

class RealProfile : public testing::Test {
 protected:
  static inline std::unique_ptr<TemporaryFolder> folder_;
  static inline Outcome outcome_;

  static void SetUpTestSuite() {
    folder_ = std::make_unique<TemporaryFolder>("real-profile-test");
    outcome_ = run_task(
        {.program = HOLDFAST_BINARY,
         .arguments = {"profile", SUITE_BINARY, rk4_step, "--variant=both",
                       "--device=cuda-dry:sm_90", "--steps=2", "--out=" + folder_->path().string()},
         .timeout_seconds = 120});
  }
  static void TearDownTestSuite() { folder_.reset(); }

  static std::vector<std::string> seen(const std::string& variant) {
    const Profile profile = read_profile(folder_->path() / profile_name(rk4_step, variant));
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

TEST_F(RealProfile, IsShownAndSaysThatNothingWasExecuted) {
  ASSERT_EQ(outcome_.code, 0) << outcome_.complaints;
  EXPECT_THAT(outcome_.output, AllOf(HasSubstr("nothing was executed: counts are exact"),
                                     HasSubstr("per step: 888 launches"),
                                     HasSubstr("open the trace at https://ui.perfetto.dev")));
}

TEST_F(RealProfile, ShowsManyTinyKernelsAndScattersInTheReference) {
  ASSERT_EQ(outcome_.code, 0) << outcome_.complaints;
  EXPECT_THAT(seen("reference"), AllOf(Contains("many_tiny_kernels"), Contains("many_scatters")));
}

TEST_F(RealProfile, ShowsNothingInTheOptimizedVariant) {
  ASSERT_EQ(outcome_.code, 0) << outcome_.complaints;
  EXPECT_THAT(seen("optimized"), IsEmpty());
}

}  // namespace
}  // namespace holdfast::gate
