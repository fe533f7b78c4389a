// SPDX-License-Identifier: Apache-2.0
// The sensors of a real GPU; skipped, with the reason, where there is no NVML.
#include "harness/profile/nvml.hpp"

#include <gtest/gtest.h>

#include "harness/testing/plausible_sample.hpp"
#include "runtime/backend/buffer.hpp"
#include "testing/gpu_main.hpp"

namespace holdfast {
namespace {

struct GpuNvml : testing::Test {
  void SetUp() override {
    try {
      sensors = open_nvml("cuda");
    } catch (const Error& error) {
      GTEST_SKIP() << error.what();
    }
  }
  std::unique_ptr<Backend> backend = open_backend("cuda");
  std::unique_ptr<GpuSensors> sensors;
};

TEST_F(GpuNvml, TellsWhatAGpuMayTell) {
  for (int i = 0; i < 3; ++i) expect_plausible(sensors->sample());
}

TEST_F(GpuNvml, SeesTheMemoryThatIsTaken) {
  constexpr std::size_t taken = std::size_t{1} << 30;
  const double before = sensors->sample().fb_used_bytes.value();
  const Buffer<char> held(*backend, taken, "a GiB");
  EXPECT_GE(sensors->sample().fb_used_bytes.value() - before, 0.5 * taken)
      << "others may give memory back meanwhile";
}

}  // namespace
}  // namespace holdfast

int main(int argc, char** argv) {
  return holdfast::gpu_main(argc, argv);
}
