// SPDX-License-Identifier: Apache-2.0
// Paths, ranges and budgets, and whether estimates equal the allocations.
#include <gtest/gtest.h>

#include <string>

#include "clusterless_kde/data/data.hpp"
#include "clusterless_kde/testing/support.hpp"
#include "testing/error_of.hpp"

namespace holdfast::clusterless_kde {
namespace {

constexpr double mebibyte = 1 << 20;
constexpr std::int64_t gibibyte = std::int64_t{1} << 30;

class PlanOfADryDevice : public testing::Test {
 protected:
  Plan of(const Recipe& recipe, const Options& options = {}) {
    return plan(*backend, make_input(recipe), options);
  }

  std::unique_ptr<Backend> backend = open_backend("cuda-dry:sm_90");
};

TEST_F(PlanOfADryDevice, TakesThePathOfFewerOperations) {
  struct Expected {
    Size size;
    int scale;
    Path path;
    int nodes;
  };
  for (const auto& [size, scale, path, nodes] :
       {Expected{Size::tiny, 1, Path::dense, 0}, Expected{Size::small, 1, Path::dense, 0},
        Expected{Size::medium, 1, Path::two_hop, 64}, Expected{Size::large, 1, Path::two_hop, 64},
        Expected{Size::realistic, 1, Path::two_hop, 64},
        Expected{Size::tet64, 16, Path::two_hop, 112}, Expected{Size::hpc1d, 64, Path::dense, 0},
        Expected{Size::hpc2d, 64, Path::dense, 0}}) {
    SCOPED_TRACE(static_cast<int>(size));
    const Plan found = of({.size = size, .scale = scale});
    EXPECT_EQ(found.path, path);
    EXPECT_EQ(found.node_count, nodes);
    EXPECT_FALSE(found.range_fallback);
  }
}

TEST_F(PlanOfADryDevice, FallsBackToDoubleWhereSinglePrecisionDoesNotReach) {
  const auto with_bandwidth = [](int features, double bandwidth) {
    Input input = make_input({.size = Size::tiny, .marks = Marks::whiten, .features = features});
    input.feature_bandwidth.assign(features, bandwidth);
    return input;
  };
  EXPECT_FALSE(plan(*backend, with_bandwidth(8, 0.01), {}).range_fallback);
  EXPECT_TRUE(plan(*backend, with_bandwidth(10, 0.001), {}).range_fallback);
  EXPECT_FALSE(
      plan(*backend, with_bandwidth(10, 0.001), {.arithmetic = Arithmetic::f64}).range_fallback);
}

TEST_F(PlanOfADryDevice, EstimatesTheMemoryOfTheDerivation) {
  const double whole = static_cast<double>(of({.size = Size::realistic}).estimate_bytes);
  EXPECT_NEAR(whole / mebibyte, 38.8, 0.388);
  const double recomputed = static_cast<double>(
      of({.size = Size::realistic}, {.values = Values::recomputed}).estimate_bytes);
  EXPECT_NEAR(recomputed / mebibyte, 23.2, 0.232);
}

TEST_F(PlanOfADryDevice, NeedsAtMost3Point4GigabytesForTheMaze) {
  EXPECT_LE(of({.size = Size::hpc2d, .marks = Marks::cells}).estimate_bytes, 3'400'000'000);
}

TEST_F(PlanOfADryDevice, KeepsWithinABudgetWithAsFewChunksAsItCan) {
  const Input input = make_input({.size = Size::hpc2d, .marks = Marks::cells});
  int chunks = 1;
  for (const std::int64_t budget : {8 * gibibyte, 2 * gibibyte, gibibyte / 2}) {
    const Plan found = plan(*backend, input, {.budget = budget});
    EXPECT_TRUE(found.options.consume);
    EXPECT_LE(found.estimate_bytes, budget);
    EXPECT_GE(found.options.chunks, chunks);
    chunks = found.options.chunks;
    if (chunks == 1) continue;
    const Plan fewer = plan(*backend, input, {.chunks = chunks / 2, .consume = true});
    EXPECT_GT(fewer.estimate_bytes, budget);
  }
  EXPECT_EQ(chunks, 8);
}

TEST_F(PlanOfADryDevice, RecomputesPsiBeforeItDividesTime) {
  const Plan roomy = of({.size = Size::realistic}, {.budget = 64 << 20});
  EXPECT_EQ(roomy.options.values, Values::stored);
  EXPECT_EQ(roomy.options.chunks, 1);
  const Plan recomputed = of({.size = Size::realistic}, {.budget = 30 << 20});
  EXPECT_EQ(recomputed.options.values, Values::recomputed);
  EXPECT_EQ(recomputed.options.chunks, 1);
  const Plan divided = of({.size = Size::realistic}, {.budget = 8 << 20});
  EXPECT_EQ(divided.options.values, Values::recomputed);
  EXPECT_GT(divided.options.chunks, 1);
}

TEST(PlanOfAHost, KeepsPsiAndDividesTimeWhereADeviceRecomputesIt) {
  const auto host = open_backend("host");
  const Plan found = plan(*host, make_input({.size = Size::realistic}), {.budget = 30 << 20});
  EXPECT_EQ(found.path, Path::two_hop);
  EXPECT_EQ(found.options.values, Values::stored);
  EXPECT_GT(found.options.chunks, 1);
  EXPECT_LE(found.estimate_bytes, 30 << 20);
}

TEST_F(PlanOfADryDevice, HoldsBatchesOfElectrodesWhereTheEncodingIsWhatDoesNotFit) {
  const Recipe maze = {.size = Size::hpc2d, .marks = Marks::cells, .scale = 16};
  EXPECT_EQ(of(maze, {.budget = 16 << 20}).electrode_batches, 1);
  const Plan tight = of(maze, {.budget = 2'400'000});
  EXPECT_GT(tight.electrode_batches, 1);
  EXPECT_LE(tight.estimate_bytes, 2'400'000);
}

TEST_F(PlanOfADryDevice, SaysWhatTheLeastPlanNeeds) {
  expect_least_plan_told(*backend, make_input({.size = Size::medium}));
}

TEST_F(PlanOfADryDevice, NeverDividesTimeFinerThanIntoRows) {
  const Plan found = of({.size = Size::tiny}, {.chunks = 1000});
  EXPECT_EQ(found.options.chunks, 50);
}

void expect_exact(const Recipe& recipe, const Options& options) {
  const Input input = make_input(recipe);
  const DryRun run(Unit::decode, input, options);
  const Plan found = plan(*run.backend, input, options);
  EXPECT_EQ(found.estimate_bytes, run.backend->ledger.peak_bytes)
      << "size " << static_cast<int>(recipe.size) << ", arithmetic "
      << static_cast<int>(options.arithmetic) << ", " << found.options.chunks << " chunks";
}

TEST(AnEstimate, IsThePeakOfEverySizeAndArithmetic) {
  for (const Recipe& recipe :
       {Recipe{.size = Size::tiny}, Recipe{.size = Size::small}, Recipe{.size = Size::medium},
        Recipe{.size = Size::large}, Recipe{.size = Size::realistic},
        Recipe{.size = Size::tet64, .marks = Marks::cells, .scale = 64},
        Recipe{.size = Size::hpc1d, .marks = Marks::cells, .scale = 64},
        Recipe{.size = Size::hpc2d, .marks = Marks::cells, .scale = 64}})
    expect_exact(recipe, {});
  for (const Arithmetic arithmetic : {Arithmetic::ffma, Arithmetic::tf32, Arithmetic::f64})
    expect_exact({.size = Size::medium}, {.arithmetic = arithmetic});
}

TEST(AnEstimate, IsThePeakOfEveryOption) {
  for (const Options& options :
       {Options{.values = Values::recomputed}, Options{.chunks = 7},
        Options{.chunks = 3, .consume = true}, Options{.block = 50}, Options{.position_tile = 200}})
    expect_exact({.size = Size::medium}, options);
  expect_exact({.size = Size::hpc2d, .marks = Marks::cells, .scale = 64}, {.cut = true});
}

TEST(AnEstimate, IsThePeakOfEveryBudget) {
  const Recipe maze = {.size = Size::hpc2d, .marks = Marks::cells, .scale = 16};
  for (const std::int64_t budget :
       {8 * gibibyte, 2 * gibibyte, gibibyte / 2, gibibyte / 16, std::int64_t{2'400'000}})
    expect_exact(maze, {.budget = budget});
  expect_exact({.size = Size::realistic}, {.budget = 30 << 20});
  expect_exact({.size = Size::realistic}, {.budget = 8 << 20});
}

}  // namespace
}  // namespace holdfast::clusterless_kde
