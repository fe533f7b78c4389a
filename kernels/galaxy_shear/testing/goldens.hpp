// SPDX-License-Identifier: Apache-2.0
// For tests: claims that hold on every backend and for both variants.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "galaxy_shear/oracle/oracle.hpp"
#include "galaxy_shear/testing/support.hpp"
#include "testing/differences.hpp"

namespace holdfast::galaxy_shear {

// The table of two Moffat profiles: of a closed form, and by a sum.
inline void expect_table(Backend& backend, Variant variant) {
  for (const double beta : {2.5, 3.1})
    for (const Precision precision : {Precision::f64, Precision::f32}) {
      const Options options = {
          .fft = 32, .image = 8, .psf = Psf::moffat, .beta = beta, .precision = precision};
      const auto found = after(backend, variant, batch_of(Unit::psf_table, options));
      EXPECT_LT(largest_difference(found, oracle::response(scene_of(options))),
                precision == Precision::f32 ? 1e-7 : 1e-13);
    }
}

// Drawn, multiplied with a cotangent, and one step of a fit, against the oracle.
inline void expect_oracle(Backend& backend, Variant variant, const golden::Golden& golden,
                          Precision precision) {
  const bool single = precision == Precision::f32;
  const Scene& scene = golden.scene;
  const auto image = oracle::image(scene, golden.truth);
  EXPECT_LT(largest_difference(after(backend, variant, problem_of(Unit::render, golden, precision)),
                               image),
            (single ? 2e-6 : 1e-12) * largest(image));

  const Problem product = problem_of(Unit::render_grad, golden, precision);
  const Parameters expected = oracle::vjp(scene, golden.truth, product.cotangent);
  EXPECT_LT(largest_difference(after(backend, variant, product), expected),
            (single ? 2e-4 : 1e-10) * largest({expected.begin(), expected.end()}));

  const Problem step = problem_of(Unit::svi_step, golden, precision);
  const auto found = after(backend, variant, step);
  const oracle::Objective objective = oracle::objective(scene, step.data, golden.start);
  const std::size_t count = golden.start.size();
  std::vector<double> gradient(found.begin() + count, found.begin() + 2 * count);
  for (double& value : gradient) value *= 10;  // a first step keeps a tenth of it
  EXPECT_LT(largest_difference(gradient, objective.gradient),
            (single ? 2e-4 : 1e-9) * largest(objective.gradient));
  EXPECT_NEAR(found[3 * count], objective.loss, (single ? 2e-5 : 1e-10) * std::abs(objective.loss));

  const auto forward = after(backend, variant, problem_of(Unit::forward, golden, precision));
  EXPECT_NEAR(forward.at(0), found[3 * count], (single ? 1e-6 : 1e-13) * std::abs(objective.loss));
}

// The losses of a batch whose latents are drawn, against the oracle at these latents: as wide as
// their priors, and each galaxy's its own.
inline void expect_drawn(Backend& backend, Variant variant, int latents) {
  const Problem problem = batch_of(
      Unit::forward, {.fft = 16, .image = 8, .batch = 3, .latents = latents, .sample = true});
  const auto found = after(backend, variant, problem, 2);
  for (int b = 0; b < 3; ++b) {
    const auto from = found.begin() + b * latents;
    const std::vector<double> u(from, from + latents);
    const std::vector<double> data(problem.data.begin() + b * 64,
                                   problem.data.begin() + b * 64 + 64);
    const double expected = oracle::loss(problem.scene, data, u);
    EXPECT_NEAR(found[3 * latents + b], expected, 1e-10 * std::abs(expected));
    EXPECT_LT(largest_difference(u, oracle::drawn(problem.scene, b)), 1e-12);
  }
}

// Galaxy b of a batch is what it is alone, to the bit.
inline void expect_independent(Backend& backend, Variant variant, const Problem& problem) {
  const auto all = after(backend, variant, problem);
  const std::size_t latents = problem.scene.latents.size();
  for (int b = 0; b < problem.batch; ++b) {
    const auto one = after(backend, variant, alone(problem, b));
    for (std::size_t k = 0; k < latents; ++k)
      ASSERT_EQ(all[b * latents + k], one[k]) << "galaxy " << b << ", latent " << k;
  }
}

// Of a batch of eight one galaxy starts with a shear above 1, one has a pixel that is no number and
// one is torn apart at step 7: each tells its step, the others are what they are without them.
inline void expect_failures_told(Backend& backend, Variant variant) {
  Options options = {.fft = 16, .image = 8, .batch = 8, .steps = 9};
  options.learning_rate = 0.05;
  const Problem sound = batch_of(Unit::map, options);
  Problem failing = sound;
  const std::size_t pixels = 64;
  failing.starts[2 * 4] = 1.2;
  failing.data[4 * pixels + 9] = NAN;
  failing.starts[5 * 4] = 0.72;
  failing.starts[5 * 4 + 1] = 0;
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 8; ++j)
      failing.data[5 * pixels + i * 8 + j] = 1e3 * ((j - 3.5) * (j - 3.5) - (i - 3.5) * (i - 3.5));
  const auto found = after(backend, variant, failing), expected = after(backend, variant, sound);
  const std::span status = std::span(found).last(8);
  EXPECT_THAT(std::vector(status.begin(), status.end()),
              testing::ElementsAre(0, 0, 1, 0, 1, 7, 0, 0));
  for (const int b : {0, 1, 3, 6, 7})
    for (int k = 0; k < 4 + 9; ++k) {
      const int at = k < 4 ? b * 4 + k : 32 + b * 9 + k - 4;
      ASSERT_EQ(found[at], expected[at]) << "galaxy " << b << ", value " << k;
    }
  EXPECT_TRUE(std::isnan(found[32 + 5 * 9 + 8])) << "a loss after the failure";
  EXPECT_EQ(found[2 * 4], 1.2) << "frozen";
}

}  // namespace holdfast::galaxy_shear
