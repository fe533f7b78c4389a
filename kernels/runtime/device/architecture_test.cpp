// SPDX-License-Identifier: Apache-2.0
#include "runtime/device/architecture.hpp"

#include <gmock/gmock.h>

#include "testing/error_of.hpp"

namespace holdfast {
namespace {

TEST(Architecture, AnUnknownOneNamesThoseThatSuitesRunOn) {
  EXPECT_THAT(refusal_of([] { return architecture(42); }),
              testing::StartsWith("there is no architecture sm_42: use one of sm_80, sm_86"));
}

TEST(Architecture, MultiprocessorsAreThoseOfTheDataCentreParts) {
  EXPECT_EQ(architecture(80).multiprocessors, 108);
  EXPECT_EQ(architecture(90).multiprocessors, 132);
  EXPECT_EQ(architecture(100).multiprocessors, 148);
}

// Expected values follow from the limits that NVIDIA's occupancy calculator lists for each compute
// capability.
TEST(Architecture, PeaksAreTheVendorsWhereItsMatrixUnitsTakeBf16) {
  EXPECT_EQ(architecture(90).bf16_flop_per_second, 989.4e12);
  EXPECT_EQ(architecture(75).bf16_flop_per_second, 0);
}

TEST(Occupancy, FewRegistersLeaveTheWarpsAsTheLimit) {
  EXPECT_EQ(occupancy(architecture(90), 32, 0, 256), 8);
  EXPECT_EQ(occupancy(architecture(80), 32, 0, 1024), 2);
  EXPECT_EQ(occupancy(architecture(86), 32, 0, 256), 6);
  EXPECT_EQ(occupancy(architecture(75), 32, 0, 256), 4);
}

TEST(Occupancy, RegistersLimitTheWarps) {
  EXPECT_EQ(occupancy(architecture(90), 64, 0, 256), 4);
  EXPECT_EQ(occupancy(architecture(90), 128, 0, 256), 2);
  EXPECT_EQ(occupancy(architecture(90), 255, 0, 256), 1);
}

TEST(Occupancy, RegistersAreTakenInUnitsPerWarp) {
  EXPECT_EQ(occupancy(architecture(90), 40, 0, 256), 6);
  EXPECT_EQ(occupancy(architecture(90), 41, 0, 256), occupancy(architecture(90), 48, 0, 256));
  EXPECT_EQ(occupancy(architecture(90), 48, 0, 256), 5);
}

// 48 registers are 1536 per warp: each scheduler's 16384 hold ten warps; all 65536 would hold 42.
TEST(Occupancy, EachSchedulerHasAQuarterOfTheRegisters) {
  EXPECT_EQ(occupancy(architecture(90), 48, 0, 64), 20);
}

TEST(Occupancy, SmallBlocksAreLimitedByTheirNumber) {
  EXPECT_EQ(occupancy(architecture(90), 16, 0, 32), 32);
  EXPECT_EQ(occupancy(architecture(86), 16, 0, 32), 16);
}

TEST(Occupancy, SharedMemoryCountsTheSystemsShareOfEachBlock) {
  EXPECT_EQ(occupancy(architecture(90), 32, 48 * 1024, 128), 4);
  EXPECT_EQ(occupancy(architecture(90), 32, 113 * 1024, 128), 2);
  EXPECT_EQ(occupancy(architecture(90), 32, 113 * 1024 + 1, 128), 1);
  EXPECT_EQ(occupancy(architecture(90), 32, 227 * 1024, 128), 1);
}

// 22323 and the system's 1024 would fit ten times; in units of 128 they take 23424.
TEST(Occupancy, SharedMemoryIsTakenInUnits) {
  EXPECT_EQ(occupancy(architecture(90), 32, 22272, 128), 10);
  EXPECT_EQ(occupancy(architecture(90), 32, 22323, 128), 9);
}

TEST(Occupancy, IsZeroWhenOneBlockDoesNotFit) {
  EXPECT_EQ(occupancy(architecture(90), 128, 0, 1024), 0);
  EXPECT_EQ(occupancy(architecture(90), 32, 227 * 1024 + 1, 128), 0);
  EXPECT_EQ(occupancy(architecture(90), 32, 0, 1025), 0);
}

TEST(Occupancy, ABlockTakesWholeWarps) {
  EXPECT_EQ(occupancy(architecture(90), 32, 0, 257), occupancy(architecture(90), 32, 0, 288));
}

// 70 registers leave 28 warps of a multiprocessor: three blocks of eight warps.
TEST(Fit, IsTheShareOfItsWarpsAndHowOftenAGridFillsTheDevice) {
  const Fit on_hopper = fit(architecture(90), 70, 0, 256, 3 * 132 * 1.5);
  EXPECT_EQ(on_hopper.occupancy, 24. / 64);
  EXPECT_EQ(on_hopper.waves, 1.5);
  EXPECT_EQ(fit(architecture(86), 70, 0, 256, 1).occupancy, 24. / 48);
}

TEST(Fit, CountsABlocksLastWarpWhole) {
  EXPECT_EQ(fit(architecture(90), 32, 0, 257, 1).occupancy,
            fit(architecture(90), 32, 0, 288, 1).occupancy);
}

TEST(Fit, IsNoneWhereABlockDoesNotFit) {
  EXPECT_EQ(fit(architecture(90), 128, 0, 1024, 7).occupancy, 0);
  EXPECT_EQ(fit(architecture(90), 128, 0, 1024, 7).waves, 0);
}

}  // namespace
}  // namespace holdfast
