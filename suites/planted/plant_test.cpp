// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "planted/nightly_plants.hpp"
#include "planted/planted_workload.hpp"
#include "runtime/base/error.hpp"

namespace holdfast::planted {
namespace {

using Kind = Plant::Kind;

TEST(Plant, IsNothingUnlessItIsNamed) {
  EXPECT_EQ(parse_plant(""), Plant{});
  EXPECT_EQ(parse_plant("launch"), (Plant{.kind = Kind::launch}));
}

TEST(Plant, OfASlowdownHasItsPercents) {
  EXPECT_EQ(parse_plant("slow:5"), (Plant{.kind = Kind::slow, .percent = 5}));
  EXPECT_EQ(parse_plant("slow:0"), (Plant{.kind = Kind::slow, .percent = 0}));
  EXPECT_EQ(parse_plant("slow"), (Plant{.kind = Kind::slow, .percent = 100}));
}

TEST(Plant, ThatMeansNothingIsRefused) {
  for (const char* words :
       {"slowly", "slow:", "slow:x", "slow:5x", "slow:-1", "slow:1e9", "launch:2"})
    EXPECT_THROW(parse_plant(words), Error) << words;
}

TEST(KernelPlants, OfNightsStandWhereTheKernelsHaveTheirPlace) {
  for (const PlantedKernels& planted : nightly_plants())
    plant_kernels(planted, fresh_folder("nightly_plants") / planted.workload);
}

// A step costs 6.1 instructions for each of its 2001 elements, a planted element 6, its call 32.
TEST(MoreWork, IsThePercentageOfTheInstructions) {
  constexpr double step = 12249, element = 6, call = 32;
  for (const double percent : {2., 3., 5., 10., 40.}) {
    const MoreWork more = more_work(percent, 2001);
    EXPECT_EQ(more.passes, 0);
    EXPECT_NEAR(100 * (more.elements * element + call) / step, percent, 0.04) << percent;
  }
}

TEST(MoreWork, OfWholeMultiplesIsWholePasses) {
  EXPECT_EQ(more_work(0, 2001), MoreWork{});
  EXPECT_EQ(more_work(100, 2001), (MoreWork{.passes = 1}));
  EXPECT_EQ(more_work(300, 2001), (MoreWork{.passes = 3}));
}

TEST(MoreWork, StaysAmongTheInnerElements) {
  EXPECT_EQ(more_work(99.99, 2001), (MoreWork{.elements = 1999}));
}

}  // namespace
}  // namespace holdfast::planted
