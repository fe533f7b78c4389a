// SPDX-License-Identifier: Apache-2.0
// Both variants on the host.
#include "galaxy_shear/galaxy_shear.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <set>
#include <string>
#include <tuple>

#include "galaxy_shear/problem/objects.hpp"
#include "galaxy_shear/testing/goldens.hpp"
#include "galaxy_shear/testing/scenes.hpp"
#include "galaxy_shear/testing/walks.hpp"
#include "testing/error_of.hpp"
#include "testing/expect_beginning_again.hpp"
#include "testing/results.hpp"

namespace holdfast::galaxy_shear {
namespace {

constexpr Variant variants[] = {Variant::reference, Variant::optimized};
constexpr Precision precisions[] = {Precision::f64, Precision::f32};

// Sites that each step of a single galaxy or of a scene writes anew.
const std::set<std::string> between_stages = {"workspaces", "shapes", "rows", "columns"};

struct OnHost : testing::Test {
  std::unique_ptr<Backend> backend = open_backend("host");
};
using GalaxyShearOnHost = OnHost;

TEST_F(GalaxyShearOnHost, MeetsTheOracleOnThePublishedScenes) {
  for (const auto scene : {golden::t_gaussian, golden::t_moffat, golden::t_moffat_31, golden::l0,
                           golden::l0m, golden::full})
    for (const Variant variant : variants)
      for (const Precision precision : precisions) {
        SCOPED_TRACE(testing::Message() << int(variant) << ' ' << name(precision));
        expect_oracle(*backend, variant, scene(), precision);
      }
}

TEST_F(GalaxyShearOnHost, MeetsTheOracleAtOddAndAtFullStamps) {
  for (const auto& [fft, image] : {std::pair{16, 7}, {32, 32}, {64, 33}, {256, 64}})
    for (const Psf psf : {Psf::gaussian, Psf::moffat}) {
      SCOPED_TRACE(testing::Message() << fft << ' ' << image);
      for (const Variant variant : variants)
        expect_oracle(*backend, variant, scene_of_size(fft, image, psf, 8), Precision::f64);
      expect_oracle(*backend, Variant::optimized, scene_of_size(fft, image, psf, 4),
                    Precision::f32);
    }
}

TEST_F(GalaxyShearOnHost, TheReferenceAddsUpALossInDouble) {
  expect_plain_loss_in_double(*backend);
}

TEST_F(GalaxyShearOnHost, GalaxiesOfABatchAreIndependent) {
  expect_independent(*backend, Variant::optimized,
                     batch_of(Unit::map, {.batch = 5, .steps = 2, .precision = Precision::f32}));
  expect_independent(*backend, Variant::optimized, batch_of(Unit::map, {.batch = 64, .steps = 2}));
}

TEST_F(GalaxyShearOnHost, TablesOpticsAsTheOracleDoes) {
  for (const Variant variant : variants) expect_table(*backend, variant);
}

// Near the axes of the finest plane, where a Moffat profile's sum has the most terms, and its
// corner.
TEST_F(GalaxyShearOnHost, TablesTheFinestPlaneOfAnyProfile) {
  for (const double beta : {1.15, 3.1, 4.765}) {
    const Options options = {.fft = 1024, .image = 8, .psf = Psf::moffat, .beta = beta};
    const Scene scene = scene_of(options);
    const auto found = after(*backend, Variant::optimized, batch_of(Unit::psf_table, options));
    for (const auto& [r, c] : {std::pair{0, 0}, {0, 1}, {1, 0}, {1, 1}, {3, 400}, {512, 512}}) {
      const double kx = two_pi / 1024 * c, ky = two_pi / 1024 * r;
      const double expected = oracle::psf(scene.psf, std::hypot(kx, ky) / scene.pixel_scale) *
                              pixel_at(kx) * pixel_at(ky);
      EXPECT_NEAR(found[r * 513 + c], expected, 1e-13) << beta << ' ' << r << ' ' << c;
    }
  }
}

TEST_F(GalaxyShearOnHost, BeginsAgainWithAnotherInput) {
  for (const Variant variant : variants)
    for (const Unit unit : {Unit::render, Unit::render_grad, Unit::forward, Unit::map})
      expect_turns(*backend, variant, unit);
}

// Leftovers of the step before must not enter the next, even if the input is the same. They are
// finite here, because memory beyond a row is read and multiplied by zero.
TEST_F(GalaxyShearOnHost, EachStepFormsAnewAllThatLiesBetweenItsStages) {
  for (const Unit unit : {Unit::render, Unit::render_grad, Unit::forward, Unit::svi_step, Unit::map,
                          Unit::vi_step, Unit::hmc_sample, Unit::scene_step}) {
    const auto fresh = open_backend("host");
    const int objects = unit == Unit::scene_step ? 2 : 0;
    const auto computation = make(unit, *fresh, Variant::optimized,
                                  {.fft = 32, .image = 16, .objects = objects, .steps = 2});
    const std::vector<double> first = result_of(*computation);
    computation->start_again(0);
    std::size_t spoilt = 0;
    for (const auto& [memory, holding] : fresh->holdings) {
      if (!between_stages.contains(holding.site)) continue;
      spoilt += holding.bytes;
      std::fill_n(static_cast<double*>(memory), holding.bytes / sizeof(double), 0.75);
    }
    EXPECT_GT(spoilt, 0U) << int(unit);
    EXPECT_LT(largest_difference(result_of(*computation), first), 1e-12 * largest(first))
        << int(unit);
  }
}

TEST_F(GalaxyShearOnHost, DrawsLatentsFromTheirPriors) {
  for (const Variant variant : variants)
    for (const int latents : {4, 8}) expect_drawn(*backend, variant, latents);
}

TEST_F(GalaxyShearOnHost, TellsWhichGalaxyFailedAtWhichStep) {
  for (const Variant variant : variants) expect_failures_told(*backend, variant);
}

TEST_F(GalaxyShearOnHost, TellsThatAShearOfNearlyOneIsNoShape) {
  for (const Variant variant : variants) expect_no_shape_told(*backend, variant, Unit::map);
  expect_no_shape_told(*backend, Variant::optimized, Unit::vi_step);
}

TEST_F(GalaxyShearOnHost, FitsThePublishedSceneAndOthersAsTheOracleDoes) {
  for (const Variant variant : variants) {
    for (const Precision precision : precisions)
      expect_published_scene(*backend, variant, precision);
    expect_scene(*backend, variant, {.fft = 32, .image = 31, .psf = Psf::moffat, .objects = 5});
    expect_scene_failure_told(*backend, variant);
  }
}

// Two steps, one that fails, and one after it.
TEST(GalaxyShearScenes, LatentsThatMoveOneByOneMoveAsTheirWholeStateDoes) {
  const SceneModel model = scene_model_of(scene_of({.fft = 64, .image = 48, .objects = 3}));
  const double start[8] = {4.1, -0.1, 0.05, 0.02, 0.1, -0.05};
  FitState whole;
  begin(model.object, start, whole);
  for (const int sound : {1, 1, 0, 1}) {
    const Together all = {.loss = 3.5, .gradient = {0.1, 0.2}, .sound = sound};
    const Share share = {.gradient = {0, 0, 0.3, -0.7, 1.1, 0.2, -5, 0.01}, .prior = 1, .sound = 1};
    const FitState before = whole;
    FitState apart = whole;
    const double loss = advance_part(model, all, &share, 1, whole);
    const Point point = constrained(model.object, before.u);
    for (int k = 0; k < model.object.latents; ++k) {
      const Move move = move_of(model.object, point, all, share.gradient, before, k);
      const double told = carry_out(move, model.object, all.loss, k, apart);
      EXPECT_TRUE(told == loss || (std::isnan(told) && std::isnan(loss)));
    }
    EXPECT_TRUE(std::ranges::equal(apart.u, whole.u) && std::ranges::equal(apart.m, whole.m) &&
                std::ranges::equal(apart.v, whole.v));
    EXPECT_EQ(std::tuple(apart.power1, apart.power2, apart.t, apart.status),
              std::tuple(whole.power1, whole.power2, whole.t, whole.status));
  }
  EXPECT_EQ(whole.status, 3);
}

TEST_F(GalaxyShearOnHost, InfersThePublishedBoundAndItsSlopes) {
  expect_published_inference(after(*backend, Variant::optimized, published_inference()));
}

TEST_F(GalaxyShearOnHost, InfersAsTheOracleDoesWithNoiseOfItsOwn) {
  expect_inference(*backend);
}

TEST_F(GalaxyShearOnHost, SamplesAsLeapfrogsByTheOracleDo) {
  expect_samples(*backend);
}

TEST_F(GalaxyShearOnHost, WalksOfABatchHaveDataAndNoiseOfTheirOwn) {
  expect_walks_apart(*backend);
  expect_own_acceptance(*backend);
}

TEST_F(GalaxyShearOnHost, WhatIsChainedBeginsAgainWhereItBegan) {
  for (const Unit unit : {Unit::scene_step, Unit::vi_step, Unit::hmc_sample})
    for (const Variant variant : variants) {
      if (walks(unit) && variant == Variant::reference) continue;
      const Options options = {.fft = 16, .image = 7, .objects = unit == Unit::scene_step ? 2 : 0};
      SCOPED_TRACE(int(unit));
      expect_beginning_again(*make(unit, *backend, variant, options));
    }
}

// A walk in u must follow the slope of its own loss.
TEST_F(GalaxyShearOnHost, TheLossOfAWalkHasTheSlopesThatDifferencesFind) {
  const golden::Golden t = golden::t_gaussian();
  const std::vector<double> data = golden::data(t);
  const auto exact = oracle::stretched(t.scene, data, t.start).gradient;
  constexpr double h = 1e-4;
  for (std::size_t k = 0; k < t.start.size(); ++k) {
    const auto at = [&](double shift) {
      std::vector<double> u = t.start;
      u[k] += shift;
      return oracle::stretched(t.scene, data, u).loss;
    };
    const double slope = (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h);
    EXPECT_NEAR(slope, exact[k], 1e-8 * largest(exact)) << k;
  }
}

TEST_F(GalaxyShearOnHost, AWholeStampKeepsTheFluxAndTurnsWithTheGalaxy) {
  golden::Golden golden = scene_of_size(32, 32, Psf::gaussian, 8);
  golden.truth = {0.03, -0.02, 3, 0.5, 0.1, -0.05, 16.4, 15.7};
  const auto drawn = [&] {
    return after(*backend, Variant::optimized, problem_of(Unit::render, golden));
  };
  const auto image = drawn();
  const double peak = largest(image);
  EXPECT_NEAR(std::accumulate(image.begin(), image.end(), 0.), 3, 1e-12);
  const Parameters z = golden.truth;
  golden.truth = {-z[g1], z[g2], z[flux], z[hlr], -z[e1], z[e2], z[y], z[x]};
  const auto transposed = drawn();
  golden.truth = z;
  golden.truth[x] += 3;
  golden.truth[y] -= 2;
  const auto shifted = drawn();
  golden.truth = z;
  golden.truth[flux] *= 2;
  const auto doubled = drawn();
  for (int i = 0; i < 32; ++i)
    for (int j = 0; j < 32; ++j) {
      ASSERT_NEAR(transposed[j * 32 + i], image[i * 32 + j], 1e-13 * peak);
      ASSERT_NEAR(shifted[(i + 30) % 32 * 32 + (j + 3) % 32], image[i * 32 + j], 1e-13 * peak);
      ASSERT_EQ(doubled[i * 32 + j], 2 * image[i * 32 + j]);
    }
}

// The last batch is just too little work for a second thread to have a workspace.
TEST_F(GalaxyShearOnHost, HoldsTheBytesOfTheFormula) {
  for (const Variant variant : variants)
    for (const Unit unit : {Unit::render, Unit::render_grad, Unit::forward, Unit::svi_step,
                            Unit::map, Unit::psf_table, Unit::vi_step, Unit::hmc_sample})
      for (const Options& options :
           {Options{.steps = 7}, Options{.batch = 5, .psf = Psf::moffat},
            Options{.fft = 64, .image = 33, .latents = 8, .precision = Precision::f32},
            Options{.fft = 16, .image = 8, .batch = 16, .steps = 5}}) {
        if (walks(unit) && variant == Variant::reference) continue;
        const auto fresh = open_backend("host");
        const auto computation = make(unit, *fresh, variant, options);
        EXPECT_EQ(fresh->ledger.peak_bytes, formula_peak_bytes(*fresh, variant, unit, options))
            << int(unit) << ' ' << int(variant);
      }
  const Options scene = {.fft = 64, .image = 33, .objects = 7, .precision = Precision::f32};
  for (const Variant variant : variants) {
    const auto fresh = open_backend("host");
    const auto computation = make(Unit::scene_step, *fresh, variant, scene);
    EXPECT_EQ(fresh->ledger.peak_bytes,
              formula_peak_bytes(*fresh, variant, Unit::scene_step, scene));
  }
}

struct Refused {
  Options options;
  std::string_view sentence;
};

TEST_F(GalaxyShearOnHost, RefusesWhatCannotBeWithFieldValueAndLimit) {
  for (const auto& [options, sentence] :
       {Refused{{.fft = 96}, "fft = 96: it must be a power of two from 16 to 1024"},
        Refused{{.fft = 8, .image = 8}, "fft = 8: it must be a power of two from 16 to 1024"},
        Refused{{.fft = 2048}, "fft = 2048: it must be a power of two from 16 to 1024"},
        Refused{{.image = 0}, "image = 0: a stamp has at least one pixel"},
        Refused{{.image = 129}, "image 129 does not fit in fft 128"},
        Refused{{.batch = 0}, "batch = 0: at least one galaxy is drawn"},
        Refused{{.objects = -1}, "objects = -1: a scene has at least one galaxy"},
        Refused{{.batch = 2, .objects = 3}, "objects = 3 and batch = 2: the galaxies of a scene"},
        Refused{{.latents = 5}, "latents = 5: 4 (g1, g2, x, y) or 8 (all parameters) are fitted"},
        Refused{{.steps = 0}, "num-steps = 0: a fit has at least one step"},
        Refused{{.learning_rate = -1}, "learning rate = -1: it must be positive"},
        Refused{{.launch = Launch::graph}, "the host has launch:host alone"}})
    EXPECT_THAT(refusal_of([&, options = options] {
                  return make(Unit::map, *backend, Variant::optimized, options);
                }),
                testing::HasSubstr(sentence));
}

TEST_F(GalaxyShearOnHost, RefusesScenesThatAreNone) {
  const auto refuses = [&](const std::function<void(Problem&)>& spoil, std::string_view sentence) {
    Problem problem = problem_of(Unit::svi_step, golden::t_gaussian());
    spoil(problem);
    EXPECT_THAT(refusal_of([&] { return make(*backend, Variant::optimized, problem); }),
                testing::HasSubstr(sentence));
  };
  refuses([](Problem& p) { p.scene.priors[g1].b = 0; }, "prior of g1, width = 0");
  refuses([](Problem& p) { p.scene.priors[flux].a = 0; }, "prior of flux, median = 0");
  refuses([](Problem& p) { p.scene.priors[x].b = 2.4; }, "prior of x, upper end = 2.4");
  refuses([](Problem& p) { p.scene.fixed[e1] = 1; }, "|e| = 1: a distortion is below 1");
  refuses([](Problem& p) { p.scene.fixed[g2] = -1.5; }, "|g| = 1.5: a reduced shear is below 1");
  refuses([](Problem& p) { p.scene.fixed[flux] = 0; }, "flux = 0: it must be positive");
  refuses([](Problem& p) { p.scene.fixed[hlr] = -0.5; }, "hlr = -0.5: it must be positive");
  refuses([](Problem& p) { p.scene.pixel_scale = 0; }, "pixel scale = 0: it must be positive");
  refuses([](Problem& p) { p.scene.psf.width = 0; }, "width of the point-spread function = 0: it");
  refuses([](Problem& p) { p.scene.noise = 0; }, "noise = 0: it must be positive");
  refuses([](Problem& p) { p.scene.noise = NAN; }, "noise = nan: it must be positive");
  refuses([](Problem& p) { p.scene.noise = INFINITY; }, "noise = inf: it must be finite");
  refuses([](Problem& p) { p.scene.psf = {Psf::moffat, 0.7, 1.1}; }, "beta of the Moffat profile");
  refuses([](Problem& p) { p.data.pop_back(); }, "data has 63 numbers, 64 expected");
}

}  // namespace
}  // namespace holdfast::galaxy_shear
