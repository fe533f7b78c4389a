// SPDX-License-Identifier: Apache-2.0
#include "harness/ceilings/ceilings.hpp"

#include <gmock/gmock.h>

#include <cmath>

#include "harness/measure/ceilings_of.hpp"
#include "harness/measure/metrics.hpp"

namespace holdfast {
namespace {

using testing::Eq;
using testing::Optional;

constexpr double KiB = 1024, MiB = 1024 * KiB;

// Round numbers: 1 us for 400 kB in l1, 200 kB in l2, 100 kB in l3, 50 kB in memory.
Ceilings host() {
  return {
      .levels = {{.name = "l1", .capacity_bytes = 100e3, .bytes_per_second = 400e9},
                 {.name = "l2", .capacity_bytes = 1900e3, .bytes_per_second = 200e9},
                 {.name = "l3", .capacity_bytes = 8e6, .bytes_per_second = 100e9},
                 {.name = "memory", .bytes_per_second = 50e9}},
      .f64 = {.flop_per_second = 100e9, .gemm_flop_per_second = 80e9, .specials_per_second = 2e9},
      .f32 = {.flop_per_second = 200e9, .gemm_flop_per_second = 160e9, .specials_per_second = 6e9},
      .barrier_seconds = 1e-6};
}

Ceilings gpu() {
  return {.levels = {{.name = "l2", .capacity_bytes = 50e6, .bytes_per_second = 5e12},
                     {.name = "memory", .bytes_per_second = 4e12}},
          .f64 = {.flop_per_second = 30e12, .gemm_flop_per_second = 60e12},
          .f32 = {.flop_per_second = 60e12,
                  .gemm_flop_per_second = 50e12,
                  .split_flop_per_second = 240e12,
                  .specials_per_second = 4e12},
          .bf16 = {.gemm_flop_per_second = 700e12},
          .launch_seconds = 2e-6,
          .graph_node_seconds = 1.5e-6,
          .grid_barrier_seconds = 1e-6};
}

TEST(Floor, OfASmallFootprintIsThatOfItsCache) {
  const auto floor = host().floor({.bytes = 400e3}, 50e3);
  EXPECT_DOUBLE_EQ(floor.seconds, 1e-6);
  EXPECT_EQ(floor.bound, "l1");
}

// f32 by three bf16 products is honest work: its floor must not accuse it.
TEST(Floor, OfF32ProductsIsThatOfTheMatrixUnitsThatCanFormThem) {
  const auto floor = gpu().floor({.flops = 240e6, .precision = Precision::f32}, 1);
  EXPECT_EQ(floor.bound, "flops");
  EXPECT_DOUBLE_EQ(floor.seconds, 1e-6);
}

// Softmax's exponentials are f32, whatever precision the products have.
TEST(Floor, OfBf16IsThatOfItsProductsAndOfF32sExponentials) {
  EXPECT_DOUBLE_EQ(gpu().floor_seconds({.flops = 700e6, .precision = Precision::bf16}, 1), 1e-6);
  const auto floor = gpu().floor({.flops = 1, .specials = 8e6, .precision = Precision::bf16}, 1);
  EXPECT_EQ(floor.bound, "specials");
  EXPECT_DOUBLE_EQ(floor.seconds, 2e-6);
}

TEST(Floor, OfALargeFootprintIsAlmostThatOfMemory) {
  const auto floor = host().floor({.bytes = 10e9}, 10e9);
  EXPECT_NEAR(floor.seconds, 0.2, 1e-3);
  EXPECT_LT(floor.seconds, 0.2);
  EXPECT_EQ(floor.bound, "memory");
}

// 0.1 MB from l1, 1.9 MB from l2, 2 MB from l3.
TEST(Floor, EachLevelServesWhatItCanHold) {
  const auto floor = host().floor({.bytes = 4e6}, 4e6);
  EXPECT_DOUBLE_EQ(floor.seconds, 0.1e6 / 400e9 + 1.9e6 / 200e9 + 2e6 / 100e9);
  EXPECT_EQ(floor.bound, "l3");
}

// A jump in the floor would accuse a step just beyond a cache's size.
TEST(Floor, DoesNotJumpWhereACacheEnds) {
  const Ceilings ceilings = host();
  for (const double end : {100e3, 2000e3, 10000e3}) {
    const double within = ceilings.floor_seconds({.bytes = 1e6}, 0.999 * end);
    const double beyond = ceilings.floor_seconds({.bytes = 1e6}, 1.001 * end);
    EXPECT_GT(beyond, within);
    EXPECT_LT(beyond, 1.01 * within);
  }
}

TEST(Floor, NeverFallsAsTheFootprintGrows) {
  const Ceilings ceilings = host();
  double last = 0;
  for (int k = 0; k < 53; ++k) {
    const double footprint = KiB * std::pow(1.3, k);
    const double seconds = ceilings.floor_seconds({.bytes = 1e6}, footprint);
    EXPECT_GE(seconds, last * (1 - 1e-12)) << footprint;
    last = seconds;
  }
}

TEST(Floor, OfArithmeticIsThatOfItsPrecision) {
  const auto f64 = host().floor({.flops = 1e6, .bytes = 1e3}, 1e3);
  EXPECT_DOUBLE_EQ(f64.seconds, 10e-6);
  EXPECT_EQ(f64.bound, "flops");
  EXPECT_DOUBLE_EQ(
      host().floor_seconds({.flops = 1e6, .bytes = 1e3, .precision = Precision::f32}, 1e3), 5e-6);
}

TEST(Floor, GrantsTheFlopsOfAMatrixProduct) {
  EXPECT_DOUBLE_EQ(gpu().floor_seconds({.flops = 60e9}, 1e3), 1e-3);
}

TEST(Floor, OfExponentialsIsThatOfSpecials) {
  const auto floor = host().floor({.flops = 1e3, .specials = 1e6}, 1e3);
  EXPECT_DOUBLE_EQ(floor.seconds, 0.5e-3);
  EXPECT_EQ(floor.bound, "specials");
}

TEST(Floor, OfPhasesIsTheCheapestWayFromOneToTheNext) {
  const auto floor = gpu().floor({.bytes = 1e3, .phases = 4}, 1e3);
  EXPECT_DOUBLE_EQ(floor.seconds, 4e-6);
  EXPECT_EQ(floor.bound, "latency");
}

TEST(Floor, OfKernelsAloneHasNoLatencyOfPhases) {
  const Work work{.bytes = 30e6, .phases = 1000};
  EXPECT_DOUBLE_EQ(floor_seconds(gpu(), work, 30'000'000), 1e-3);
  EXPECT_LT(kernels_floor_seconds(gpu(), work, 30'000'000), 1e-5);
  EXPECT_GT(kernels_floor_seconds(gpu(), work, 30'000'000), 1e-6);
}

TEST(Floor, IsThatOfTheLevelThatHoldsThePeakHoweverOftenThatIsRead) {
  const Work often{.bytes = 1e9}, once{.bytes = 1e6};
  EXPECT_LT(floor_seconds(gpu(), often, 1'000'000), floor_seconds(gpu(), often, 1'000'000'000));
  EXPECT_EQ(floor_seconds(gpu(), once, 1'000'000'000), floor_seconds(gpu(), once, 1'000'000));
}

TEST(Floor, OfPhasesOnHostIsNone) {
  EXPECT_EQ(host().floor_seconds({.phases = 1000}, 1e3), 0);
}

TEST(Floor, OfWhatWasNotCalibratedIsNone) {
  EXPECT_EQ(gpu().floor_seconds({.specials = 1e12}, 1e3), 0);  // f64
  EXPECT_EQ(Ceilings{}.floor_seconds({.flops = 1, .bytes = 1, .phases = 1, .specials = 1}, 1), 0);
}

TEST(Floor, OfNoWorkBindsNothing) {
  const auto floor = host().floor({}, 1e6);
  EXPECT_EQ(floor.seconds, 0);
  EXPECT_EQ(floor.bound, "");
}

TEST(Bandwidth, FallsFromLevelToLevel) {
  EXPECT_DOUBLE_EQ(host().bandwidth(1e3), 400e9);
  EXPECT_LT(host().bandwidth(3e6), 200e9);
  EXPECT_GT(host().bandwidth(3e6), 100e9);
}

double floor_fraction(const Measurement& measurement) {
  for (const Metric& metric : metrics())
    if (std::string_view(metric.name) == "floor_fraction")
      return metric.read(measurement, measurement.optimized).value();
  return 0;
}

// The gate calls it SUSPECT-FAST above 1.1.
TEST(FloorFraction, OfATimeThatTheMachineCannotReachIsAboveOne) {
  const Work work{.flops = 1e5, .bytes = 1e6};
  Measurement measurement{.work = work};
  measurement.floor_seconds = host().floor_seconds(work, 1.5e6);
  const double honest = 1e6 * (0.1 / 1.5 / 400e9 + 1.4 / 1.5 / 200e9);
  measurement.optimized.seconds = honest / 1.25;
  EXPECT_NEAR(floor_fraction(measurement), 1.25, 1e-9);
  measurement.optimized.seconds = honest;
  EXPECT_LT(floor_fraction(measurement), 1.1);
}

// 30 MB in 8 us: no memory does that, the L2 of the device does.
TEST(FloorFraction, OfWhatFitsTheL2OfADeviceIsThatOfItsL2) {
  const Work work{.bytes = 30e6};
  Measurement measurement{.work = work};
  measurement.floor_seconds = gpu().floor_seconds(work, 30e6);
  measurement.optimized.seconds = 6.2e-6;
  EXPECT_LT(floor_fraction(measurement), 1.0);
  EXPECT_GT(30e6 / 4e12 / 6.2e-6, 1.1);  // relative to the memory ceiling
}

TEST(NamedCeilings, AreTheSameNamesOnEveryDevice) {
  const auto ours = host().named(), theirs = gpu().named();
  ASSERT_EQ(ours.size(), theirs.size());
  for (const auto& [name, value] : ours) EXPECT_TRUE(theirs.contains(name)) << name;
}

TEST(NamedCeilings, AreEmptyWhereADeviceCannotKnow) {
  EXPECT_THAT(gpu().named().at("l1_bytes_per_s"), Eq(std::nullopt));
  EXPECT_THAT(gpu().named().at("barrier_s"), Eq(std::nullopt));
  EXPECT_THAT(host().named().at("graph_node_s"), Eq(std::nullopt));
  EXPECT_THAT(host().named().at("memory_bytes_per_s"), Optional(50e9));
  EXPECT_THAT(gpu().named().at("grid_barrier_s"), Optional(1e-6));
  EXPECT_THAT(host().named().at("f32_specials_per_s"), Optional(6e9));
}

}  // namespace
}  // namespace holdfast
