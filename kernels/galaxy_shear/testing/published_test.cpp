// SPDX-License-Identifier: Apache-2.0
// Whole fits, and images of other sizes, on the host against published values.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <span>

#include "galaxy_shear/testing/support.hpp"
#include "testing/differences.hpp"

namespace holdfast::galaxy_shear {
namespace {

struct GalaxyShearAsPublished : testing::Test {
  std::unique_ptr<Backend> backend = open_backend("host");

  // Latents within `limit`, losses to a billionth, of a fit that is made twice in a row.
  void expect_end(const golden::Golden& golden, int steps, std::span<const double> u,
                  std::span<const golden::Loss> losses, double limit = 1e-9) {
    Problem problem = problem_of(Unit::map, golden);
    problem.steps = steps;
    const auto found = after(*backend, Variant::optimized, problem, 2);
    EXPECT_LT(largest_difference(std::span(found).first(u.size()), u), limit);
    for (const auto& [step, value] : losses)
      EXPECT_NEAR(found[u.size() + step], value, 1e-9 * std::abs(value)) << "before step " << step;
    EXPECT_EQ(found.back(), 0) << "status";
  }
};

TEST_F(GalaxyShearAsPublished, FitsOfTheSmallSceneAndOfTheBenchmarkEnd) {
  expect_end(golden::t_gaussian(), 20, golden::t_after_20, golden::t_losses);
  expect_end(golden::l0(), 1, std::array{-0.08, 0.085, 0.2, -0.1},
             std::span(golden::l0_losses).first(1));
  expect_end(golden::l0(), 5, golden::l0_after_5, std::span(golden::l0_losses).first(2));
  expect_end(golden::l0(), 200, golden::l0_after_200, golden::l0_losses);
  expect_end(golden::l0m(), 200, golden::l0m_after_200, golden::l0m_losses);
}

// Shear and distortion are nearly degenerate here, so that its path forgets less.
TEST_F(GalaxyShearAsPublished, AFitOfAllParametersEnds) {
  expect_end(golden::full(), 500, golden::full_after_500, golden::full_losses, 1e-6);
}

TEST_F(GalaxyShearAsPublished, ABatchWithPhiloxNoiseEnds) {
  const auto found = after(*backend, Variant::optimized, batch_of(Unit::map, {.batch = 4}));
  const auto expect = [&](int b, std::span<const double> u, double loss) {
    EXPECT_LT(largest_difference(std::span(found).subspan(b * 4, 4), u), 1e-9);
    EXPECT_NEAR(found[4 * 4 + b * 200 + 199], loss, 1e-9 * std::abs(loss));
  };
  expect(0, golden::philox_0_after_200, golden::philox_0_loss_199);
  expect(3, golden::philox_3_after_200, golden::philox_3_loss_199);
}

TEST_F(GalaxyShearAsPublished, SinglePrecisionEndsWhereThePosteriorDoesNotTell) {
  Problem problem = problem_of(Unit::map, golden::l0(), Precision::f32);
  problem.steps = 200;
  const auto found = after(*backend, Variant::optimized, problem);
  for (int k = 0; k < 4; ++k)
    EXPECT_NEAR(found[k], golden::l0_after_200[k], k < 2 ? 2e-6 : 1e-5) << k;
}

TEST_F(GalaxyShearAsPublished, ImagesByOtherSizesHaveTheirPeaksAndSums) {
  for (const auto& [fft, image, peak, sum] : golden::sizes) {
    const auto found =
        after(*backend, Variant::optimized, batch_of(Unit::render, {.fft = fft, .image = image}));
    EXPECT_NEAR(std::accumulate(found.begin(), found.end(), 0.), sum, 1e-12) << fft << ' ' << image;
    if (peak > 0) {
      EXPECT_NEAR(*std::max_element(found.begin(), found.end()), peak, 1e-12 * peak) << fft;
    }
  }
}

}  // namespace
}  // namespace holdfast::galaxy_shear
