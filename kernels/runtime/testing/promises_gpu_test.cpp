// SPDX-License-Identifier: Apache-2.0
// The promises on a real GPU.
#include "runtime/compile/nvrtc.hpp"
#include "runtime/testing/promises.hpp"
#include "testing/gpu_main.hpp"

namespace holdfast {
namespace {

struct GpuPromises : testing::Test {
  std::unique_ptr<Backend> backend = open_backend("cuda");
};

TEST_F(GpuPromises, GraphsDoTheSameInEveryReplay) {
  promises::graphs(*backend);
}

TEST_F(GpuPromises, TransformsAreTheHosts) {
  promises::transforms(*backend);
}

TEST_F(GpuPromises, CopiesArriveBeforeWhatWaitsForThem) {
  promises::copies(*backend);
}

TEST_F(GpuPromises, ThereIsNoMoreMemoryThanThereIs) {
  promises::no_more_memory_than_there_is(
      *backend, static_cast<std::size_t>(backend->device->memory_bytes().value()));
}

TEST_F(GpuPromises, WhatIsHeldIsNotFree) {
  constexpr std::int64_t bytes = 1 << 30;
  const Device& device = *backend->device;
  const std::int64_t before = device.free_bytes().value();
  EXPECT_LT(before, device.memory_bytes().value());
  const Buffer<char> held(*backend, bytes, "held");
  EXPECT_LE(device.free_bytes().value(), before - bytes);
}

TEST_F(GpuPromises, AllBlocksOfACooperativeLaunchMeet) {
  promises::meetings(*backend);
}

// From the second time on, the driver's cache would omit a kernel's resources.
TEST(GpuCompiler, ASecondCompilationSaysWhatTheFirstOneSaid) {
  const Lowering lowering{.name = "twice.cu",
                          .text = "__global__ void twice(double* x) { x[threadIdx.x] *= 2; }",
                          .entries = {"twice"},
                          .sm = 90};
  Artifact first, second;
  for (Artifact* artifact : {&first, &second}) {
    lower(lowering, *artifact);
    link(lowering, *artifact);
  }
  EXPECT_GT(first.entries.at(0).registers, 0);
  EXPECT_EQ(second.entries.at(0).registers, first.entries.at(0).registers);
}

}  // namespace
}  // namespace holdfast

int main(int argc, char** argv) {
  return holdfast::gpu_main(argc, argv);
}
