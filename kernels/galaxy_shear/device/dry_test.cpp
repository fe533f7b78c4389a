// SPDX-License-Identifier: Apache-2.0
// The cost of a step of both variants on the dry device: launches, bytes, programs, and the path a
// galaxy takes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "galaxy_shear/device/on_device.hpp"
#include "galaxy_shear/galaxy_shear.hpp"
#include "galaxy_shear/problem/results.hpp"
#include "testing/dry_run.hpp"
#include "testing/error_of.hpp"
#include "testing/expect_f64_instructions.hpp"

namespace holdfast::galaxy_shear {
namespace {

constexpr Variant variants[] = {Variant::reference, Variant::optimized};

DryRun cost(Unit unit, Variant variant, const Options& options = {}) {
  return DryRun(90, [=](Backend& backend) { return make(unit, backend, variant, options); });
}

// The counts of a step but for what its kernels are told and how wide, which only baselines hold.
Counts counted(DryRun&& run) {
  Counts step = run.step();
  step.argument_sum = step.argument_magnitudes = step.threads = 0;
  return step;
}

TEST(DryGalaxyShear, AnOptimizedStepIsOneLaunchAndMovesNothing) {
  for (const Unit unit : {Unit::render, Unit::render_grad, Unit::forward, Unit::svi_step,
                          Unit::vi_step, Unit::hmc_sample}) {
    const Counts step = counted(cost(unit, Variant::optimized, {.batch = 3}));
    EXPECT_EQ(step, (Counts{.launches = 1, .host_launches = 1})) << int(unit);
  }
}

// The start of a stamp is computed in double, its pixels are not.
TEST(DryGalaxyShear, ComputesPixelsOfSinglePrecisionInIt) {
  const Options options = {.batch = 3, .precision = Precision::f32};
  const auto expect = [&](Unit unit, const char* kernel, std::int64_t most) {
    const DryRun run = cost(unit, Variant::optimized, options);
    expect_f64_instructions(*run.backend->compiler, {{kernel, most}});
  };
  expect(Unit::render, "render<float, 128, 48, false>", 173);
  expect(Unit::render_grad, "render_grad<float, 128, 48, false>", 502);
  expect(Unit::forward, "forward<float, 128, 48, false>", 377);
  expect(Unit::svi_step, "fit<float, 128, 48, false>", 974);
}

// Records a step as a fit does, then frees the states it uses.
TEST(DryGalaxyShear, ARecordedStepWhoseStatesAreGoneNamesKernelAndSite) {
  const auto backend = open_backend("cuda-dry:sm_90");
  const Problem problem = problem_of(Unit::map, {.batch = 3}, false);
  FitKernel<double> kernels(problem.scene);
  kernels.build(*backend->compiler, problem.scene);
  const Buffer<double> optics(*backend, attenuation(problem.scene), "optics"),
      tables(*backend, roots(problem.scene.fft), "roots"), data(*backend, problem.data, "inputs"),
      starts(*backend, padded_starts(problem), "inputs: starts");
  std::optional<Buffer<FitState>> states;
  states.emplace(*backend, first_states(problem), "state");
  Buffer<double> losses(*backend, 3, "result");
  const LaunchShape shape = {.grid = {3},
                             .block = {stamp_threads},
                             .shared_bytes = shared_bytes(8, 128, 48, stamp_threads)};
  const Graph graph = backend->device->capture([&] {
    kernels.fit(shape, model_of(problem.scene), optics.data(), tables.data(), data.data(),
                starts.data(), states->data(), losses.data(), 1, 0);
  });
  backend->device->replay(graph);
  states.reset();
  EXPECT_THAT(refusal_of([&] { backend->device->replay(graph); }, Fault::broken_rule),
              testing::HasSubstr("fit<double, 128, 48, false> points into 'state', "
                                 "which was released since"));
}

TEST(DryGalaxyShear, AFitIsLaunchedAsItsOptionSays) {
  const Options one_launch = {.batch = 3, .steps = 47, .launch = Launch::persistent};
  EXPECT_EQ(counted(cost(Unit::map, Variant::optimized, one_launch)),
            (Counts{.launches = 1, .host_launches = 1}));
  const Options replayed = {.batch = 3, .steps = 47, .launch = Launch::graph};
  EXPECT_EQ(counted(cost(Unit::map, Variant::optimized, replayed)),
            (Counts{.launches = 47, .host_launches = 3, .graph_nodes = 47}));
  const Options watched = {.batch = 3, .steps = 47};
  EXPECT_EQ(counted(cost(Unit::map, Variant::optimized, watched)),
            (Counts{.launches = 47,
                    .host_launches = 47,
                    .transfers = 47,
                    .d2h_bytes = 47 * 3 * 8,
                    .pageable_bytes = 47 * 3 * 8,
                    .syncs = 47}));
}

TEST(DryGalaxyShear, TheReferenceIsThePublishedGraphOfOperations) {
  const Counts step = counted(cost(Unit::svi_step, Variant::reference, {.batch = 3}));
  constexpr auto flops = 2 * 3 * (5 * 128 * 128 * 14 / 2);  // two real transforms of each image
  constexpr auto bytes = 2 * 3 * 8 * 128 * (128 + 2 * 65);
  EXPECT_EQ(step, (Counts{.launches = 37,
                          .library_calls = 2,
                          .library_flops = flops,
                          .library_bytes = bytes,
                          .host_launches = 37}));
  EXPECT_EQ(cost(Unit::render, Variant::reference).step().launches, 16);
}

// For any number of objects. The last two scenes have columns in rounds and groups of several
// warps.
TEST(DryGalaxyShear, AStepOfASceneIsFiveLaunchesAndMovesNothing) {
  for (const Options& scene :
       {Options{.fft = 16, .image = 15, .objects = 3},
        Options{.fft = 64, .image = 48, .objects = 3},
        Options{.fft = 64, .image = 48, .objects = 40},
        Options{.fft = 256, .image = 128, .objects = 256},
        Options{.fft = 512, .image = 15, .psf = Psf::moffat, .objects = 3}}) {
    EXPECT_EQ(counted(cost(Unit::scene_step, Variant::optimized, scene)),
              (Counts{.launches = 5, .host_launches = 5}));
    for (const Variant variant : variants) {
      const DryRun held = cost(Unit::scene_step, variant, scene);
      EXPECT_EQ(held.backend->ledger.peak_bytes,
                formula_peak_bytes(*held.backend, variant, Unit::scene_step, scene));
    }
  }
}

// The blocks of each launch of a step whose kernel's name begins with `kernel`.
std::vector<std::int64_t> blocks_of(const Backend& backend, std::string_view kernel) {
  std::vector<std::int64_t> found;
  for (const auto& program : backend.compiler->programs())
    for (const Function& function : program->functions)
      if (function.expression.starts_with(kernel))
        for (const LaunchShape& shape : function.shapes) found.push_back(shape.grid.volume());
  return found;
}

// Generating a scene's columns and taking its derivatives must not be the latency of a few blocks.
TEST(DryGalaxyShear, AColumnOfASceneIsABlock) {
  DryRun small = cost(Unit::scene_step, Variant::optimized, {.image = 64, .objects = 16});
  small.step();
  EXPECT_THAT(blocks_of(*small.backend, "scene_generate<"), testing::ElementsAre(65));
  EXPECT_THAT(blocks_of(*small.backend, "scene_derive<"), testing::ElementsAre(65));
  DryRun large =
      cost(Unit::scene_step, Variant::optimized, {.fft = 256, .image = 128, .objects = 256});
  large.step();
  EXPECT_THAT(blocks_of(*large.backend, "scene_generate<"), testing::ElementsAre(129));
  EXPECT_THAT(blocks_of(*large.backend, "scene_derive<"), testing::ElementsAre(256));
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

// Batch, latents, priors and steps are arguments; another size is another program.
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
  EXPECT_EQ(programs_after(Unit::scene_step, {.fft = 64, .objects = 3}), 3);
  EXPECT_EQ(programs_after(Unit::scene_step, {.fft = 64, .objects = 7}), 3);
}

// 1 if the galaxies of a case are split over several blocks, else 0.
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

// 31 planes of 256 x 257 fit in 32 MiB: three launches for each of three shares, then a final one.
TEST(DryGalaxyShear, ALargeStampIsSplitIntoAFewLaunches) {
  const Options large = {.fft = 512, .image = 256};
  EXPECT_EQ(cost(Unit::render, Variant::optimized, large).step().launches, 2);
  Options batch = large;
  batch.batch = 64;
  DryRun run = cost(Unit::svi_step, Variant::optimized, batch);
  EXPECT_EQ(run.step().launches, 10);
  EXPECT_EQ(run.backend->ledger.peak_bytes,
            formula_peak_bytes(*run.backend, Variant::optimized, Unit::svi_step, batch));
}

TEST(DryGalaxyShear, AFitInOneLaunchOfALargeStampIsRefused) {
  const Options large = {.fft = 512, .image = 256, .launch = Launch::persistent};
  EXPECT_THAT(refusal_of([&] { return cost(Unit::map, Variant::optimized, large); }),
              testing::HasSubstr("launch:persistent keeps a galaxy in a block's "
                                 "shared memory, and image 256 with fft 512"));
}

}  // namespace
}  // namespace holdfast::galaxy_shear
