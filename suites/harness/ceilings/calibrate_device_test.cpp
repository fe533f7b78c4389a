// SPDX-License-Identifier: Apache-2.0
// The ceilings of a device, from the control flow to the floor: on the emulated one.
#include <gmock/gmock.h>

#include "harness/ceilings/calibrate.hpp"

#include "base/names.hpp"
#include "calibration/testing/emulated_kernels.hpp"

namespace holdfast {
namespace {

constexpr DeviceEffort little{.seconds = 0,
                              .memory_bytes = 4'000'000,
                              .upload_bytes = 1'000'000,
                              .cache_bytes = 400'000,
                              .passes = 2,
                              .multiply_adds = 20,
                              .exponentials = 20,
                              .split_products = 1,
                              .edge = 64,
                              .bf16_edge = 64,
                              .few = 4,
                              .many = 600};

// Calibrated once for all tests.
struct DeviceCeilings : testing::Test {
  static void SetUpTestSuite() {
    backend = make_emulated_backend(calibration::emulated_kernels());
    ceilings = calibrate_device(*backend, little);
  }
  static void TearDownTestSuite() { backend.reset(); }

  static inline std::unique_ptr<Backend> backend = {};
  static inline Ceilings ceilings = {};
};

TEST_F(DeviceCeilings, AreThoseOfItsCacheAndItsMemory) {
  ASSERT_EQ(ceilings.levels.size(), 2u);
  EXPECT_EQ(ceilings.levels[0].name, "l2");
  EXPECT_EQ(ceilings.levels[0].capacity_bytes, 50 << 20);  // that of the emulated sm_90
  EXPECT_EQ(ceilings.levels[0].footprint_bytes, 400'000);
  EXPECT_EQ(ceilings.levels[1].name, "memory");
  EXPECT_EQ(ceilings.levels[1].footprint_bytes, 4'000'000);
}

TEST_F(DeviceCeilings, KnowAllThatADeviceHas) {
  for (const auto& [name, value] : ceilings.named()) {
    const bool of_a_host = name.starts_with("l1") || name.starts_with("l3") || name == "barrier_s";
    EXPECT_EQ(value.has_value(), !of_a_host) << name;
    EXPECT_GE(value.value_or(0), 0) << name;
  }
}

TEST_F(DeviceCeilings, OfMemoryAreNoLessThanThoseOfTheCopyVerb) {
  EXPECT_GE(ceilings.levels[1].bytes_per_second, *ceilings.memory_copy_bytes_per_second);
}

TEST_F(DeviceCeilings, OfSplitProductsAreThoseOfSinglePrecision) {
  EXPECT_TRUE(ceilings.f32.split_flop_per_second);
  EXPECT_FALSE(ceilings.f64.split_flop_per_second);
}

TEST_F(DeviceCeilings, OfASmallDeviceTakeAnEighthOfItsMemory) {
  const auto small = make_emulated_backend(calibration::emulated_kernels(),
                                           {.sm = oldest_of_suites, .memory_bytes = 16'000'000});
  const Ceilings found = calibrate_device(*small, little);
  ASSERT_EQ(found.levels.size(), 2u);
  EXPECT_EQ(found.levels[1].footprint_bytes, 2'000'000);
  EXPECT_TRUE(found.bf16.gemm_flop_per_second) << "the oldest device has products in bf16, too";
}

TEST_F(DeviceCeilings, GiveAFloorToPhases) {
  const auto floor = ceilings.floor({.bytes = 8, .phases = 1000}, 8);
  EXPECT_EQ(floor.bound, "latency");
  EXPECT_GT(floor.seconds, 0);
}

TEST_F(DeviceCeilings, OfWhatFailsAreUnknownAndNoOther) {
  DeviceEffort too_much = little;
  too_much.upload_bytes = std::size_t{1} << 50;
  const auto found = calibrate_device(*backend, too_much).named();
  EXPECT_FALSE(found.at("h2d_bytes_per_s").has_value());
  for (const auto& [name, value] : ceilings.named()) {
    if (name == "h2d_bytes_per_s") continue;
    EXPECT_EQ(found.at(name).has_value(), value.has_value()) << name;
  }
  EXPECT_EQ(backend->ledger.live_bytes, 0);
}

TEST_F(DeviceCeilings, LeaveNothingBehind) {
  EXPECT_EQ(backend->ledger.live_bytes, 0);
}

}  // namespace
}  // namespace holdfast
