// SPDX-License-Identifier: Apache-2.0
// Both variants on the emulated device.
#include <gtest/gtest.h>

#include <set>

#include "galaxy_shear/galaxy_shear.hpp"
#include "galaxy_shear/testing/goldens.hpp"
#include "galaxy_shear/testing/kernels_on_cpu.hpp"
#include "galaxy_shear/testing/scenes.hpp"
#include "galaxy_shear/testing/walks.hpp"
#include "testing/expect_beginning_again.hpp"

namespace holdfast::galaxy_shear {
namespace {

constexpr Variant variants[] = {Variant::reference, Variant::optimized};

// Each test compiles four programs per crossing; crossings that repeat the same code run nightly.
struct Crossing {
  int fft, image;
  Psf psf;
  Precision precision;
};
using EmulatedStamp = testing::TestWithParam<Crossing>;

TEST_P(EmulatedStamp, MeetsTheOracleInEitherOrderAloneAndInABatch) {
  const auto& [fft, image, psf, precision] = GetParam();
  const int latents = image % 2 == 0 ? 8 : 4;
  for (const auto order : {emulation::Order::forward, emulation::Order::backward}) {
    const auto backend = emulated(Variant::optimized, {.order = order});
    expect_oracle(*backend, Variant::optimized, scene_of_size(fft, image, psf, latents), precision);
    expect_independent(*backend, Variant::optimized,
                       batch_of(Unit::map, {.fft = fft,
                                            .image = image,
                                            .batch = 3,
                                            .psf = psf,
                                            .latents = latents,
                                            .steps = 2,
                                            .precision = precision}));
  }
}
INSTANTIATE_TEST_SUITE_P(Once, EmulatedStamp,
                         testing::Values(Crossing{16, 8, Psf::gaussian, Precision::f64},
                                         Crossing{16, 7, Psf::moffat, Precision::f32},
                                         Crossing{64, 33, Psf::moffat, Precision::f64},
                                         Crossing{128, 48, Psf::gaussian, Precision::f32}));
INSTANTIATE_TEST_SUITE_P(Nightly, EmulatedStamp,
                         testing::Values(Crossing{16, 8, Psf::moffat, Precision::f32},
                                         Crossing{16, 7, Psf::gaussian, Precision::f64},
                                         Crossing{64, 33, Psf::gaussian, Precision::f32},
                                         Crossing{128, 48, Psf::moffat, Precision::f64}));

TEST(EmulatedGalaxyShear, BeginsAgainWithAnotherInput) {
  for (const Unit unit : {Unit::render, Unit::render_grad, Unit::forward, Unit::map}) {
    for (const Variant variant : variants) expect_turns(*emulated(variant), variant, unit);
    expect_turns(*emulated(Variant::optimized), Variant::optimized, unit, 3);
  }
}

TEST(EmulatedGalaxyShear, StepsThatAreChainedBeginAgainWhereTheyBegan) {
  const auto backend = emulated(Variant::optimized);
  Problem problem = small_batch(Unit::svi_step);
  for (const int split : {0, 2}) {
    problem.split = split;
    SCOPED_TRACE(split);
    expect_beginning_again(*make(*backend, Variant::optimized, problem));
  }
  for (const Unit unit : {Unit::scene_step, Unit::vi_step, Unit::hmc_sample}) {
    const Options options = unit == Unit::scene_step ? Options{.fft = 16, .image = 15, .objects = 2}
                                                     : Options{.fft = 16, .image = 8};
    SCOPED_TRACE(int(unit));
    expect_beginning_again(*make(unit, *backend, Variant::optimized, options));
  }
}

TEST(EmulatedGalaxyShear, AFitThatBeginsAnewDoesSoFromEachGalaxysStart) {
  const auto backend = emulated(Variant::optimized);
  Problem problem = small_batch(Unit::map);
  for (std::size_t k = 0; k < problem.starts.size(); ++k) problem.starts[k] += 1e-3 * double(k);
  for (const int split : {0, 2}) {
    problem.split = split;
    EXPECT_EQ(after(*backend, Variant::optimized, problem, 2),
              after(*backend, Variant::optimized, problem))
        << split;
  }
}

TEST(NightlyEmulatedGalaxyShear, StampsSplitOverBlocksMeetTheOracle) {
  const auto backend = emulated(Variant::optimized);
  expect_oracle(*backend, Variant::optimized, scene_of_size(16, 7, Psf::moffat, 4), Precision::f32,
                1);
  expect_oracle(*backend, Variant::optimized, scene_of_size(128, 48, Psf::gaussian, 4),
                Precision::f64, 1);
}

TEST(EmulatedGalaxyShear, SplitFitsGiveTheSameBitsHoweverTheyAreLaunched) {
  const auto backend = emulated(Variant::optimized);
  Problem problem = small_batch(Unit::map, 3, 5);
  const auto fused = after(*backend, Variant::optimized, problem);
  problem.split = 3;
  const auto watched = after(*backend, Variant::optimized, problem, 2);
  problem.launch = Launch::graph;
  EXPECT_EQ(watched, after(*backend, Variant::optimized, problem));
  EXPECT_LT(largest_difference(std::span(watched).first(12), std::span(fused).first(12)), 1e-4);
}

// Three galaxies at a time, or two and the remaining one.
TEST(EmulatedGalaxyShear, SplitGalaxiesGiveTheSameBitsHoweverManyHaveRoomAtATime) {
  const auto backend = emulated(Variant::optimized);
  for (const Unit unit : {Unit::render, Unit::render_grad, Unit::svi_step}) {
    Problem problem = small_batch(unit);
    problem.split = 3;
    const auto together = after(*backend, Variant::optimized, problem);
    problem.split = 2;
    EXPECT_EQ(after(*backend, Variant::optimized, problem), together) << int(unit);
  }
}

// In the last launch each thread takes one galaxy, and a block has 128 threads.
TEST(NightlyEmulatedGalaxyShear, MoreSplitGalaxiesThanABlockEndsAreIndependent) {
  Problem problem = small_batch(Unit::map, 130, 1);
  problem.split = 130;
  expect_independent(*emulated(Variant::optimized), Variant::optimized, problem, 129);
}

TEST(EmulatedGalaxyShear, ReferenceMeetsTheOracle) {
  for (const auto scene : {golden::t_gaussian, golden::t_moffat_31})
    for (const Precision precision : {Precision::f64, Precision::f32}) {
      const auto backend = emulated(Variant::reference);
      expect_oracle(*backend, Variant::reference, scene(), precision);
    }
}

TEST(EmulatedGalaxyShear, ReferenceAddsUpALossInDouble) {
  expect_plain_loss_in_double(*emulated(Variant::reference));
}

TEST(EmulatedGalaxyShear, GalaxiesOfABatchAreIndependent) {
  const auto backend = emulated(Variant::optimized);
  expect_independent(*backend, Variant::optimized, small_batch(Unit::map, 64, 2, 8), 21);
}

TEST(EmulatedGalaxyShear, FitsThePublishedSceneInEitherOrder) {
  for (const auto order : {emulation::Order::forward, emulation::Order::backward}) {
    const auto backend = emulated(Variant::optimized, {.order = order});
    expect_published_scene(*backend, Variant::optimized);
  }
  const auto backend = emulated(Variant::optimized);
  expect_scene_failure_told(*backend, Variant::optimized);
}
// 40 objects exceed a block's groups of threads and the number whose shares are computed at once.
TEST(EmulatedGalaxyShear, AStepOfASceneGivesTheSameBitsInEitherOrder) {
  const Problem problem = scene_problem(scene_of({.fft = 64, .image = 48, .objects = 40}), 40);
  std::set<std::vector<double>> results;
  for (const auto order : {emulation::Order::forward, emulation::Order::backward}) {
    const auto backend = emulated(Variant::optimized, {.order = order});
    for (int run = 0; run < 2; ++run)
      results.insert(after(*backend, Variant::optimized, problem, 2));
  }
  EXPECT_EQ(results.size(), 1u);
}
// One round of the last launch holds 64 states, one of which is the shear's.
TEST(EmulatedGalaxyShear, MovesTheLastOf64Objects) {
  const auto backend = emulated(Variant::optimized);
  expect_scene(*backend, Variant::optimized, {.fft = 16, .image = 15, .objects = 64});
}
TEST(NightlyEmulatedGalaxyShear, FitsScenesAsTheOracleDoes) {
  const auto backend = emulated(Variant::optimized);
  expect_scene(
      *backend, Variant::optimized,
      {.fft = 128, .image = 31, .psf = Psf::moffat, .objects = 5, .precision = Precision::f32});
  expect_scene(*backend, Variant::optimized, {.fft = 64, .image = 48, .objects = 40});
  // Columns in two rounds; groups of two warps.
  expect_scene(*backend, Variant::optimized, {.fft = 256, .image = 24, .objects = 136});
  expect_scene(*backend, Variant::optimized,
               {.fft = 512, .image = 15, .psf = Psf::moffat, .objects = 3});
  const auto plain = emulated(Variant::reference);
  expect_scene(*plain, Variant::reference, {.fft = 16, .image = 15, .objects = 2});
  expect_scene(*backend, Variant::optimized, {.fft = 16, .image = 15, .objects = 2});
}

TEST(EmulatedGalaxyShear, TablesOpticsAsTheOracleDoes) {
  for (const Variant variant : variants) {
    const auto backend = emulated(variant);
    expect_table(*backend, variant);
  }
}

TEST(EmulatedGalaxyShear, DrawsLatentsFromTheirPriors) {
  for (const Variant variant : variants) {
    const auto backend = emulated(variant);
    expect_drawn(*backend, variant, 8);
  }
}

TEST(EmulatedGalaxyShear, TellsWhichGalaxyFailedAtWhichStep) {
  const auto backend = emulated(Variant::optimized);
  expect_failures_told(*backend, Variant::optimized);
}

TEST(EmulatedGalaxyShear, TellsThatAShearOfNearlyOneIsNoShape) {
  for (const Variant variant : variants)
    expect_no_shape_told(*emulated(variant), variant, Unit::map);
  const auto backend = emulated(Variant::optimized);
  expect_no_shape_told(*backend, Variant::optimized, Unit::map, 2);
  expect_no_shape_told(*backend, Variant::optimized, Unit::vi_step);
}

TEST(EmulatedGalaxyShear, SamplesAndInfersAsTheOracleDoes) {
  const auto backend = emulated(Variant::optimized);
  expect_samples(*backend);
  expect_inference(*backend);
  expect_walks_apart(*backend);
  expect_own_acceptance(*backend);
}

// 47 steps are two full graphs and a shorter one.
TEST(EmulatedGalaxyShear, EveryWayOfLaunchingAFitGivesTheSameBits) {
  Problem problem = problem_of(Unit::map, golden::t_gaussian());
  problem.steps = 47;
  std::set<std::vector<double>> results;
  for (const Launch launch : {Launch::host, Launch::graph, Launch::persistent})
    for (const int runs : {1, 2}) {
      const auto backend = emulated(Variant::optimized);
      problem.launch = launch;
      results.insert(after(*backend, Variant::optimized, problem, runs));
    }
  EXPECT_EQ(results.size(), 1u);
}

TEST(NightlyEmulatedGalaxyShear, AFitOfTheBenchmarkEndsAtThePublishedLatents) {
  const auto backend = emulated(Variant::optimized);
  expect_published_fit(*backend);
}

TEST(EmulatedGalaxyShear, AFitOfTwentyStepsEndsAtThePublishedLatents) {
  Problem problem = problem_of(Unit::map, golden::t_gaussian());
  problem.steps = 20;
  problem.launch = Launch::persistent;
  const auto backend = emulated(Variant::optimized);
  const auto found = after(*backend, Variant::optimized, problem);
  EXPECT_LT(largest_difference(std::span(found).first(8), std::span(golden::t_after_20)), 1e-9);
}

}  // namespace
}  // namespace holdfast::galaxy_shear
