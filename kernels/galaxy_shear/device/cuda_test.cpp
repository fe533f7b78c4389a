// SPDX-License-Identifier: Apache-2.0
// Both variants on the emulated device, and what they cost on the dry one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "galaxy_shear/galaxy_shear.hpp"
#include "galaxy_shear/testing/goldens.hpp"
#include "galaxy_shear/testing/kernels_on_cpu.hpp"
#include "galaxy_shear/testing/walks.hpp"
#include "runtime/base/error.hpp"
#include "testing/dry_run.hpp"

namespace holdfast::galaxy_shear {
namespace {

constexpr Variant variants[] = {Variant::reference, Variant::optimized};

TEST(EmulatedGalaxyShear, MeetsTheOracleAtEverySizeInEitherOrder) {
  using emulation::Order;
  for (const auto& [fft, image, order] : {std::tuple{16, 8, Order::forward},
                                          {16, 8, Order::backward},
                                          {16, 7, Order::forward},
                                          {16, 7, Order::backward},
                                          {64, 33, Order::forward},
                                          {128, 48, Order::backward}})
    for (const Psf psf : {Psf::gaussian, Psf::moffat}) {
      // Either type and either table once, because each is compiled; odd stamps cross them.
      const bool single = (psf == Psf::moffat) != (image == 7);
      const Precision precision = single ? Precision::f32 : Precision::f64;
      SCOPED_TRACE(testing::Message() << fft << ' ' << image << ' ' << name(precision));
      const auto backend = emulated(Variant::optimized, {.order = order});
      expect_oracle(*backend, Variant::optimized,
                    scene_of_size(fft, image, psf, image % 2 == 0 ? 8 : 4), precision);
    }
}

TEST(EmulatedGalaxyShear, StampsSplitOverBlocksMeetTheOracle) {
  const auto backend = emulated(Variant::optimized);
  expect_oracle(*backend, Variant::optimized, scene_of_size(16, 7, Psf::moffat, 4), Precision::f32,
                true);
  expect_oracle(*backend, Variant::optimized, scene_of_size(128, 48, Psf::gaussian, 4),
                Precision::f64, true);
}

TEST(EmulatedGalaxyShear, SplitFitsGiveTheSameBitsHoweverTheyAreLaunched) {
  const auto backend = emulated(Variant::optimized);
  Problem problem = batch_of(Unit::map, {.fft = 16,
                                         .image = 7,
                                         .batch = 3,
                                         .psf = Psf::moffat,
                                         .steps = 5,
                                         .precision = Precision::f32});
  const auto fused = after(*backend, Variant::optimized, problem);
  problem.split = true;
  const auto watched = after(*backend, Variant::optimized, problem, 2);
  problem.launch = Launch::graph;
  EXPECT_EQ(watched, after(*backend, Variant::optimized, problem));
  EXPECT_LT(largest_difference(std::span(watched).first(12), std::span(fused).first(12)), 1e-4);
}

TEST(EmulatedGalaxyShear, ReferenceMeetsTheOracle) {
  for (const auto scene : {golden::t_gaussian, golden::t_moffat_31})
    for (const Precision precision : {Precision::f64, Precision::f32}) {
      const auto backend = emulated(Variant::reference);
      expect_oracle(*backend, Variant::reference, scene(), precision);
    }
}

TEST(EmulatedGalaxyShear, GalaxiesOfABatchAreIndependent) {
  const auto backend = emulated(Variant::optimized);
  expect_independent(
      *backend, Variant::optimized,
      batch_of(Unit::map, {.fft = 16, .image = 7, .batch = 64, .latents = 8, .steps = 2}), 21);
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

TEST(EmulatedGalaxyShear, SamplesAndInfersAsTheOracleDoes) {
  const auto backend = emulated(Variant::optimized);
  expect_samples(*backend);
  expect_inference(*backend);
}

// 47 steps are two whole graphs and a shorter one.
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

TEST(EmulatedGalaxyShear, AFitOfTwentyStepsEndsAtThePublishedLatents) {
  Problem problem = problem_of(Unit::map, golden::t_gaussian());
  problem.steps = 20;
  problem.launch = Launch::persistent;
  const auto backend = emulated(Variant::optimized);
  const auto found = after(*backend, Variant::optimized, problem);
  EXPECT_LT(largest_difference(std::span(found).first(8), std::span(golden::t_after_20)), 1e-9);
}

DryRun cost(Unit unit, Variant variant, const Options& options = {}) {
  return DryRun(90, [=](Backend& backend) { return make(unit, backend, variant, options); });
}

TEST(DryGalaxyShear, AnOptimizedStepIsOneLaunchAndMovesNothing) {
  for (const Unit unit : {Unit::render, Unit::render_grad, Unit::forward, Unit::svi_step,
                          Unit::vi_step, Unit::hmc_sample}) {
    const Counts step = cost(unit, Variant::optimized, {.batch = 3}).step();
    EXPECT_EQ(step, (Counts{.launches = 1, .host_launches = 1})) << int(unit);
  }
}

TEST(DryGalaxyShear, AFitIsLaunchedAsItsOptionSays) {
  const Options one_launch = {.batch = 3, .steps = 47, .launch = Launch::persistent};
  EXPECT_EQ(cost(Unit::map, Variant::optimized, one_launch).step(),
            (Counts{.launches = 1, .host_launches = 1}));
  const Options replayed = {.batch = 3, .steps = 47, .launch = Launch::graph};
  EXPECT_EQ(cost(Unit::map, Variant::optimized, replayed).step(),
            (Counts{.launches = 47, .host_launches = 3, .graph_nodes = 47}));
  const Options watched = {.batch = 3, .steps = 47};
  EXPECT_EQ(cost(Unit::map, Variant::optimized, watched).step(),
            (Counts{.launches = 47, .host_launches = 47, .d2h_bytes = 47 * 3 * 8, .syncs = 47}));
}

TEST(DryGalaxyShear, TheReferenceIsThePublishedGraphOfOperations) {
  const Counts step = cost(Unit::svi_step, Variant::reference, {.batch = 3}).step();
  EXPECT_EQ(step, (Counts{.launches = 37, .library_calls = 2, .host_launches = 37}));
  EXPECT_EQ(cost(Unit::render, Variant::reference).step().launches, 16);
}

TEST(DryGalaxyShear, HoldsTheBytesOfTheFormula) {
  for (const Variant variant : variants)
    for (const Unit unit : {Unit::render, Unit::render_grad, Unit::forward, Unit::svi_step,
                            Unit::map, Unit::psf_table, Unit::vi_step, Unit::hmc_sample})
      for (const Options& options :
           {Options{.batch = 5},
            Options{.batch = 5, .psf = Psf::moffat, .precision = Precision::f32}}) {
        if (walks(unit) && (variant == Variant::reference || options.psf == Psf::moffat)) continue;
        const DryRun run = cost(unit, variant, options);
        EXPECT_EQ(run.backend->ledger.peak_bytes,
                  formula_peak_bytes(*run.backend, variant, unit, options))
            << int(unit) << ' ' << int(variant);
      }
}

// A batch, other latents, priors and steps are arguments; another size is another program.
TEST(DryGalaxyShear, CompilesAnewForSizesAlone) {
  const auto backend = open_backend("cuda-dry:sm_90");
  const auto programs_after = [&](Unit unit, const Options& options) {
    make(unit, *backend, Variant::optimized, options)->step();
    return backend->ledger.counts.programs;
  };
  EXPECT_EQ(programs_after(Unit::map, {}), 1);
  EXPECT_EQ(programs_after(Unit::svi_step, {.batch = 64, .latents = 8}), 1);
  EXPECT_EQ(programs_after(Unit::map, {.steps = 7, .launch = Launch::persistent}), 1);
  EXPECT_EQ(programs_after(Unit::map, {.learning_rate = 0.3}), 1);
  EXPECT_EQ(programs_after(Unit::svi_step, {.fft = 64}), 2);
  EXPECT_EQ(programs_after(Unit::svi_step, {}), 2);
}

// Whether the galaxies of a case are spread over several blocks.
double path(const std::string& device, const Options& options) {
  const auto backend = open_backend(device);
  return make(Unit::render, *backend, Variant::optimized, options)->readings().at(0).value;
}

TEST(DryGalaxyShear, TheSharedMemoryOfTheArchitectureDecidesOnThePath) {
  EXPECT_EQ(path("cuda-dry:sm_90", {}), 0);
  EXPECT_EQ(path("cuda-dry:sm_90", {.fft = 256, .image = 64}), 0);
  EXPECT_EQ(path("cuda-dry:sm_80", {.fft = 256, .image = 64}), 1);
  EXPECT_EQ(path("cuda-dry:sm_90", {.fft = 256, .image = 128}), 1);
}

// 31 planes of 256 x 257 fit in 32 MiB: three launches for each of three shares, and a last one.
TEST(DryGalaxyShear, ALargeStampIsSplitIntoAFewLaunches) {
  const Options large = {.fft = 512, .image = 256};
  EXPECT_EQ(cost(Unit::render, Variant::optimized, large).step().launches, 2);
  Options batch = large;
  batch.batch = 64;
  DryRun run = cost(Unit::svi_step, Variant::optimized, batch);
  EXPECT_EQ(run.step(), (Counts{.launches = 10, .host_launches = 10}));
  EXPECT_EQ(run.backend->ledger.peak_bytes,
            formula_peak_bytes(*run.backend, Variant::optimized, Unit::svi_step, batch));
}

TEST(DryGalaxyShear, AFitInOneLaunchOfALargeStampIsRefused) {
  try {
    cost(Unit::map, Variant::optimized, {.fft = 512, .image = 256, .launch = Launch::persistent});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::bad_input);
    EXPECT_THAT(error.what(), testing::HasSubstr("launch:persistent keeps a galaxy in a block's "
                                                 "shared memory, and image 256 with fft 512"));
  }
}

}  // namespace
}  // namespace holdfast::galaxy_shear
