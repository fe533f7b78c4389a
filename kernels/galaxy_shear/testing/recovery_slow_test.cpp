// SPDX-License-Identifier: Apache-2.0
// What a survey asks of the fits: that they find the truth, no farther from it than the noise says.
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "galaxy_shear/oracle/oracle.hpp"
#include "galaxy_shear/testing/support.hpp"

namespace holdfast::galaxy_shear {
namespace {

constexpr int galaxies = 64;
constexpr std::array<int, 4> fitted = {g1, g2, x, y};

// The inverse's diagonal of a symmetric positive matrix, by Gauss and Jordan.
std::array<double, 4> inverse_diagonal(std::array<std::array<double, 8>, 4> rows) {
  for (int k = 0; k < 4; ++k) rows[k][4 + k] = 1;
  for (int k = 0; k < 4; ++k) {
    const double pivot = rows[k][k];
    for (double& value : rows[k]) value /= pivot;
    for (int r = 0; r < 4; ++r) {
      if (r == k) continue;
      const double factor = rows[r][k];
      for (int c = 0; c < 8; ++c) rows[r][c] -= factor * rows[k][c];
    }
  }
  return {rows[0][4], rows[1][5], rows[2][6], rows[3][7]};
}

// Standard deviations of the likelihood around the truth of galaxy 0; the priors are far wider.
std::array<double, 4> posterior_widths(const Scene& scene) {
  constexpr double step = 1e-5;
  std::array<std::vector<double>, 4> slopes;
  for (int k = 0; k < 4; ++k) {
    Parameters up = truth_of(scene, 0), down = up;
    up[fitted[k]] += step;
    down[fitted[k]] -= step;
    slopes[k] = oracle::image(scene, up);
    const auto below = oracle::image(scene, down);
    for (std::size_t p = 0; p < below.size(); ++p)
      slopes[k][p] = (slopes[k][p] - below[p]) / (2 * step * scene.noise);
  }
  std::array<std::array<double, 8>, 4> information = {};
  for (int r = 0; r < 4; ++r)
    for (int c = 0; c < 4; ++c)
      for (std::size_t p = 0; p < slopes[0].size(); ++p)
        information[r][c] += slopes[r][p] * slopes[c][p];
  std::array<double, 4> widths = inverse_diagonal(information);
  for (double& width : widths) width = std::sqrt(width);
  return widths;
}

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
  const auto widths = posterior_widths(scene);
  for (int k = 0; k < 4; ++k) {
    EXPECT_NEAR(std::sqrt(squares[k]) / widths[k], 1, 0.2) << "latent " << k;
    EXPECT_LT(std::abs(sums[k]), 4 * std::sqrt(squares[k] / galaxies)) << "latent " << k;
  }
}

}  // namespace
}  // namespace holdfast::galaxy_shear
