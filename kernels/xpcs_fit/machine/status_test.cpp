// SPDX-License-Identifier: Apache-2.0
// The published tables of versions and devices.
#include "xpcs_fit/machine/status.hpp"

#include <gtest/gtest.h>

namespace holdfast::xpcs_fit {
namespace {

TEST(XpcsMachine, KnowsWhichDriverRunsWhichCuda) {
  struct {
    int major, minor, driver;
    bool runs;
  } const table[] = {{12, 0, 580, false}, {12, 1, 525, true},   {12, 1, 524, false},
                     {12, 9, 525, true},  {12, 10, 600, false}, {13, 0, 579, false},
                     {13, 0, 580, true},  {13, 2, 590, true},   {11, 8, 600, false}};
  for (const auto& row : table)
    EXPECT_EQ(driver_supports(row.major, row.minor, row.driver), row.runs)
        << row.major << '.' << row.minor << " by " << row.driver;
}

TEST(XpcsMachine, ChoosesADeviceAndSaysWhy) {
  struct {
    DeviceWish wish;
    std::string why_no_gpu, backend, reason;
  } const table[] = {
      {{}, "", "cuda", "a GPU is preferred, and there is one"},
      {{}, "no driver", "host", "there is no GPU: no driver"},
      {{.prefers_gpu = false}, "", "host", "a GPU is not preferred"},
      {{.prefers_gpu = false}, "no driver", "host", "a GPU is not preferred"},
      {{.forces_host = true}, "", "host", "the host was asked for"},
      {{.prefers_gpu = false, .forces_host = true}, "", "host", "the host was asked for"}};
  for (const auto& row : table) {
    const DeviceChoice choice = choose_device(row.wish, row.why_no_gpu);
    EXPECT_EQ(choice.backend, row.backend);
    EXPECT_EQ(choice.reason, row.reason);
  }
}

TEST(XpcsMachine, HasAGpuOrTellsWhyNot) {
  const MachineStatus status = machine_status();
  EXPECT_NE(status.gpu.empty(), status.why_no_gpu.empty());
  EXPECT_EQ(status.recommendations.empty(), !status.gpu.empty() && status.threads == status.cpus);
  EXPECT_GE(status.cpus, 1);
  EXPECT_EQ(status.utc.back(), 'Z');
}

TEST(XpcsMachine, EstimatesWhatToExpect) {
  MachineStatus status;
  status.cpus = 15;
  EXPECT_EQ(performance_estimate(status), "medium");
  status.cpus = 16;
  EXPECT_EQ(performance_estimate(status), "medium-high");
  status.gpu = "NVIDIA H200";
  EXPECT_EQ(performance_estimate(status), "high");
}

}  // namespace
}  // namespace holdfast::xpcs_fit
