// SPDX-License-Identifier: Apache-2.0
// The minimum work of a step against published numbers, and its bytes in and out.
#include <gtest/gtest.h>

#include "galaxy_shear/galaxy_shear.hpp"

namespace holdfast::galaxy_shear {
namespace {

// Flops of an image, and of a loss with its gradient.
struct PublishedFlops {
  int fft, image;
  double forward, gradient;
};
constexpr PublishedFlops published_flops[] = {{64, 48, 0.174e6, 0.380e6},
                                              {128, 48, 0.626e6, 1.402e6},
                                              {256, 64, 2.527e6, 5.668e6},
                                              {256, 128, 2.904e6, 6.372e6},
                                              {512, 256, 12.56e6, 27.36e6}};

TEST(GalaxyWork, FlopsOfImagesAndOfTheirGradientsArePublished) {
  for (const auto& [fft, image, forward, gradient] : published_flops)
    for (const int batch : {1, 3}) {
      const auto flops = [&](Unit unit) {
        return work_of(unit, {.fft = fft, .image = image, .batch = batch}).flops / batch;
      };
      for (const Unit unit : {Unit::render, Unit::forward})
        EXPECT_NEAR(flops(unit) / forward, 1, 3e-3) << fft << ' ' << image;
      for (const Unit unit : {Unit::render_grad, Unit::svi_step})
        EXPECT_NEAR(flops(unit) / gradient, 1, 3e-3) << fft << ' ' << image;
    }
}

TEST(GalaxyWork, FitsAndWalksAreAsManyGradientsAsTheyAskFor) {
  const Options options = {.batch = 3, .steps = 7};
  const double once = work_of(Unit::svi_step, options).flops;
  EXPECT_EQ(work_of(Unit::map, options).flops, 7 * once);
  EXPECT_EQ(work_of(Unit::vi_step, options).flops, once);
  EXPECT_EQ(work_of(Unit::hmc_sample, options).flops, 17 * once);
}

// 71 flops per sample of each object, and the transforms of one image forward and back.
TEST(GalaxyWork, OfASceneIsThatOfItsObjectsSamplesAndOfOneImage) {
  const auto flops = [](int objects) {
    return work_of(Unit::scene_step, {.image = 64, .objects = objects}).flops;
  };
  constexpr double samples = 129 * 65, transforms = 2 * (65 + 64 / 2.) * 5 * 128 * 7;
  EXPECT_EQ(flops(16), 71 * samples * 16 + transforms);
  EXPECT_EQ(flops(17) - flops(16), 71 * samples);
}

// A trapezoid sum has at least 40 terms; a half-integer nu has a polynomial instead.
TEST(GalaxyWork, OfATableIsHalfOfItsSymmetricSamples) {
  const auto of = [](double beta) {
    return work_of(Unit::psf_table, {.psf = Psf::moffat, .beta = beta});
  };
  EXPECT_EQ(of(2.5).flops, 60 * 65 * 66 / 2);
  EXPECT_EQ(of(3.1).flops, 40 * of(2.5).flops);
  EXPECT_EQ(of(3.1).bytes, 8 * 65 * 65);
}

struct Moved {
  Unit unit;
  double images, numbers;  // pixels / S^2, and numbers that are always double
};

// Images out, data or a cotangent in; parameters, states, losses.
TEST(GalaxyWork, MovesEachImageOnceAndItsGalaxysNumbers) {
  constexpr int batch = 3, steps = 7, latents = 4;
  constexpr Moved moved[] = {{Unit::render, batch, batch * 8},
                             {Unit::render_grad, 1, batch * (8 + 1 + 8)},
                             {Unit::forward, batch, batch * (latents + 1)},
                             {Unit::svi_step, batch, batch * (6 * latents + 1)},
                             {Unit::vi_step, batch, batch * (6 * latents + 1)},
                             {Unit::hmc_sample, batch, batch * (6 * latents + 1)},
                             {Unit::map, batch, batch * (2 * latents + steps)},
                             {Unit::scene_step, 1, 6 * (2 + 6 * 5) + 1}};
  for (const auto& [unit, images, numbers] : moved)
    for (const Precision precision : {Precision::f32, Precision::f64}) {
      const Options options = {
          .batch = batch, .objects = 5, .steps = steps, .precision = precision};
      const Work work = work_of(unit, options);
      EXPECT_EQ(work.bytes, images * 48 * 48 * (precision == Precision::f32 ? 4 : 8) + 8 * numbers)
          << int(unit);
      EXPECT_EQ(work.phases, 1) << int(unit);
      EXPECT_EQ(work.precision, precision) << int(unit);
    }
}

}  // namespace
}  // namespace holdfast::galaxy_shear
