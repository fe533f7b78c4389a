// SPDX-License-Identifier: Apache-2.0
// The published table of devices, and the status of this machine.
#include "xpcs_fit/machine/status.hpp"

#include <gmock/gmock.h>

#include <sstream>

namespace holdfast::xpcs_fit {
namespace {

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
  EXPECT_GE(status.cores, 1);
  EXPECT_LE(status.cores, status.cpus);
  EXPECT_EQ(status.utc.back(), 'Z');
  EXPECT_EQ(status.choice.backend, status.gpu.empty() ? "host" : "cuda");
  EXPECT_EQ(status.performance, performance_estimate(status));
}

TEST(XpcsMachine, IsDescribedInALine) {
  EXPECT_EQ(described({.utc = "2026-01-02T03:04:05Z",
                       .processor = "Some CPU",
                       .isa = "x86-64-v4",
                       .cpus = 4,
                       .threads = 2,
                       .memory_bytes = 25'600'000'000,
                       .gpu = "NVIDIA H200",
                       .choice = {"cuda", "a GPU is preferred, and there is one"},
                       .performance = "high",
                       .recommendations = {"use more threads"}}),
            "2026-01-02T03:04:05Z: fits go to cuda (a GPU is preferred, and there is one), "
            "performance high; Some CPU, x86-64-v4, 2 threads on 4 CPUs, 25.6 GB; NVIDIA H200, "
            "unknown memory; use more threads");
}

// Two sockets of two cores, one of which has two CPUs.
TEST(XpcsMachine, CountsCoresAndNotTheirHalves) {
  std::istringstream cpuinfo(
      "processor\t: 0\nphysical id\t: 0\ncore id\t\t: 0\n\nprocessor\t: 1\n"
      "physical id\t: 0\ncore id\t\t: 1\n\nprocessor\t: 2\nphysical id\t: 1\ncore id\t\t: 0\n\n"
      "processor\t: 3\nphysical id\t: 1\ncore id\t\t: 1\n\nprocessor\t: 4\n"
      "physical id\t: 0\ncore id\t\t: 1\n");
  EXPECT_EQ(parse_cores(cpuinfo), 4);
  std::istringstream numberless("processor\t: 0\nprocessor\t: 1\n");
  EXPECT_EQ(parse_cores(numberless), 0);
}

TEST(XpcsMachine, EstimatesWhatToExpect) {
  MachineStatus status;
  status.cpus = 30;
  status.cores = 15;
  EXPECT_EQ(performance_estimate(status), "medium");
  status.cores = 16;
  EXPECT_EQ(performance_estimate(status), "medium-high");
  status.gpu = "NVIDIA H200";
  EXPECT_EQ(performance_estimate(status), "high");
}

}  // namespace
}  // namespace holdfast::xpcs_fit
