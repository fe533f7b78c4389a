// SPDX-License-Identifier: Apache-2.0
// For tests: claims that hold on every backend and for both variants.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <span>

#include "galaxy_shear/oracle/oracle.hpp"
#include "galaxy_shear/testing/support.hpp"
#include "testing/differences.hpp"

namespace holdfast::galaxy_shear {

// The tables of two Moffat profiles: by the closed form, and by the sum.
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

// An image, its product with a cotangent, and one step of a fit, against the oracle.
inline void expect_oracle(Backend& backend, Variant variant, const golden::Golden& golden,
                          Precision precision, int split = 0) {
  const bool single = precision == Precision::f32;
  const Scene& scene = golden.scene;
  const auto problem_of = [&](Unit unit, const golden::Golden& of, Precision numbers) {
    Problem problem = galaxy_shear::problem_of(unit, of, numbers);
    problem.split = split;
    return problem;
  };
  const auto image = oracle::image(scene, golden.truth);
  EXPECT_LT(largest_difference(after(backend, variant, problem_of(Unit::render, golden, precision)),
                               image),
            (single ? 2e-6 : 1e-12) * largest(image));

  const Problem product = problem_of(Unit::render_grad, golden, precision);
  const Parameters expected = oracle::vjp(scene, golden.truth, product.cotangent);
  const auto summed = after(backend, variant, product);
  EXPECT_LT(largest_difference(std::span(summed).last(parameters), std::span(expected)),
            (single ? 2e-4 : 1e-10) * largest({expected.begin(), expected.end()}));
  const double sum = std::inner_product(image.begin(), image.end(), product.cotangent.begin(), 0.);
  EXPECT_NEAR(summed.at(0), sum, (single ? 2e-6 : 1e-12) * largest(image) * std::sqrt(image.size()))
      << "of the image, weighted";

  const Problem step = problem_of(Unit::svi_step, golden, precision);
  const auto found = after(backend, variant, step);
  const oracle::Objective objective = oracle::objective(scene, step.data, golden.start);
  const std::size_t count = golden.start.size();
  std::vector<double> gradient(found.begin() + count, found.begin() + 2 * count);
  for (double& value : gradient) value *= 10;  // m after a first step is a tenth of it
  EXPECT_LT(largest_difference(gradient, objective.gradient),
            (single ? 2e-4 : 1e-9) * largest(objective.gradient));
  EXPECT_NEAR(found[3 * count], objective.loss, (single ? 2e-5 : 1e-10) * std::abs(objective.loss));

  const auto forward = after(backend, variant, problem_of(Unit::forward, golden, precision));
  EXPECT_NEAR(forward.at(0), found[3 * count], (single ? 1e-6 : 1e-13) * std::abs(objective.loss));
}

// Far from its data an image costs half the sum of squared pixels, which have more digits than f32:
// the plain formulation adds them up in double in either precision.
inline void expect_plain_loss_in_double(Backend& backend) {
  constexpr double pixel = 12345677;  // all 24 bits of a float
  Problem problem = problem_of(Unit::forward, golden::t_gaussian(), Precision::f32);
  problem.scene.noise = 1;
  std::fill(problem.data.begin(), problem.data.end(), pixel);
  const double half = static_cast<double>(problem.data.size()) * pixel * pixel / 2;
  EXPECT_NEAR(after(backend, Variant::reference, problem).at(0) / half, 1, 1e-10);
}

// The benchmark's 200 steps end at its published latents, bit for bit the same for every way to
// launch them and when repeated.
inline void expect_published_fit(Backend& backend) {
  Problem problem = problem_of(Unit::map, golden::l0());
  problem.steps = 200;
  std::set<std::vector<double>> results;
  for (const Launch launch : {Launch::host, Launch::graph, Launch::persistent}) {
    problem.launch = launch;
    results.insert(after(backend, Variant::optimized, problem, 2));
  }
  ASSERT_EQ(results.size(), 1u);
  EXPECT_LT(
      largest_difference(std::span(*results.begin()).first(4), std::span(golden::l0_after_200)),
      1e-9);
}

// The losses of a batch with drawn latents, against the oracle at these latents: spread as wide as
// their priors, each galaxy with its own.
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

// Galaxy b's part of a fit's result: its latents, its losses.
inline std::vector<double> fit_of(const Problem& problem, const std::vector<double>& all, int b) {
  const auto part = [&](std::size_t first, std::size_t each) {
    const auto from = all.begin() + static_cast<std::ptrdiff_t>(first + b * each);
    return std::vector<double>(from, from + static_cast<std::ptrdiff_t>(each));
  };
  const std::size_t latents = problem.scene.latents.size();
  std::vector<double> own = part(0, latents);
  const auto losses = part(problem.batch * latents, problem.steps);
  own.insert(own.end(), losses.begin(), losses.end());
  return own;
}

// Galaxy b of a batch equals the galaxy computed alone, bit for bit; checks each `every`-th one.
inline void expect_independent(Backend& backend, Variant variant, const Problem& problem,
                               int every = 1) {
  const auto all = after(backend, variant, problem);
  for (int b = 0; b < problem.batch; b += every) {
    const Problem one = alone(problem, b);
    ASSERT_EQ(fit_of(problem, all, b), fit_of(one, after(backend, variant, one), 0))
        << "galaxy " << b;
  }
}

// In a batch of 64, one galaxy starts with a shear above 1, one has a NaN pixel and one diverges at
// step 7: each reports its step, the others are as without them.
inline void expect_failures_told(Backend& backend, Variant variant) {
  constexpr int batch = 64, sheared = 2, blank = 17, torn = 40, pixels = 64;
  Options options = {.fft = 16, .image = 8, .batch = batch, .steps = 9};
  options.learning_rate = 0.05;
  const Problem sound = batch_of(Unit::map, options);
  Problem failing = sound;
  failing.starts[sheared * 4] = 1.2;
  failing.data[blank * pixels + 9] = NAN;
  failing.starts[torn * 4] = 0.72;
  failing.starts[torn * 4 + 1] = 0;
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 8; ++j)
      failing.data[torn * pixels + i * 8 + j] =
          1e3 * ((j - 3.5) * (j - 3.5) - (i - 3.5) * (i - 3.5));
  const auto found = after(backend, variant, failing), expected = after(backend, variant, sound);
  const auto status = std::span(found).last(batch);
  for (int b = 0; b < batch; ++b) {
    const int failed = b == sheared || b == blank ? 1 : b == torn ? 7 : 0;
    EXPECT_EQ(status[b], failed) << "status of galaxy " << b;
    if (failed > 0) continue;
    ASSERT_EQ(fit_of(sound, found, b), fit_of(sound, expected, b)) << "galaxy " << b;
  }
  EXPECT_TRUE(std::isnan(fit_of(sound, found, torn).back())) << "a loss after the failure";
  EXPECT_EQ(found[sheared * 4], 1.2) << "frozen";
}

// A shear within a billionth of one gives finite numbers, but is invalid all the same.
inline void expect_no_shape_told(Backend& backend, Variant variant, Unit unit, int split = 0) {
  Problem problem = small_batch(unit, 2, 1);
  if (unit == Unit::vi_step) problem = batch_of(unit, {.fft = 16, .image = 8, .batch = 2});
  problem.split = split;
  problem.starts[4] = std::sqrt(1 - 5e-10);
  problem.starts[5] = 0;
  problem.spread = 1e-300;  // so that a walk proposes its very start
  const auto found = after(backend, variant, problem);
  EXPECT_EQ(found[found.size() - 2], 0) << "status of a sound galaxy";
  EXPECT_EQ(found.back(), 1) << "status of one without a shape";
}

}  // namespace holdfast::galaxy_shear
