// SPDX-License-Identifier: Apache-2.0
// A survey's requirement of the fits: they find the truth as closely as the noise allows.
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "galaxy_shear/oracle/oracle.hpp"
#include "galaxy_shear/testing/support.hpp"

namespace holdfast::galaxy_shear {
namespace {

constexpr int galaxies = 64;
constexpr std::array<int, 4> fitted = {g1, g2, x, y};

TEST(GalaxyRecovery, FitsFindTheTruthAsCloselyAsTheNoiseAllows) {
  const auto backend = open_backend("host");
  const Options options = {.batch = galaxies};
  const Scene scene = scene_of(options);
  const auto found = after(*backend, Variant::optimized, batch_of(Unit::map, options));
  std::array<double, 4> squares = {}, sums = {};
  for (int b = 0; b < galaxies; ++b) {
    const auto from = found.begin() + 4 * b;
    const Parameters z = oracle::constrained(scene, {from, from + 4}), truth = truth_of(scene, b);
    for (int k = 0; k < 4; ++k) {
      const double error = z[fitted[k]] - truth[fitted[k]];
      EXPECT_LT(std::abs(error), k < 2 ? 1e-4 : 2e-4) << "galaxy " << b << ", latent " << k;
      squares[k] += error * error / galaxies;
      sums[k] += error / galaxies;
    }
    EXPECT_EQ(found[4 * galaxies + 200 * galaxies + b], 0) << "status of galaxy " << b;
  }
  const auto widths = oracle::posterior_widths(scene, truth_of(scene, 0));
  for (int k = 0; k < 4; ++k) {
    EXPECT_NEAR(std::sqrt(squares[k]) / widths[k], 1, 0.2) << "latent " << k;
    EXPECT_LT(std::abs(sums[k]), 4 * std::sqrt(squares[k] / galaxies)) << "latent " << k;
  }
}

}  // namespace
}  // namespace holdfast::galaxy_shear
