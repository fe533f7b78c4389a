// SPDX-License-Identifier: Apache-2.0
// The scalar mathematics in cases that no scene reaches: near zero, and near invalid values.
#include "galaxy_shear/problem/formulas.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace holdfast::galaxy_shear {
namespace {

// The gradients of scenes are too large to show this.
TEST(GalaxyAdam, ItsEpsilonStandsOutsideOfTheRoot) {
  for (const double slope : {0., 1e-9, 1e-8, -1e-8, 1e-7}) {
    double m = 0, v = 0, u = 0;
    follow(0.5, slope, 0.9, 0.999, m, v, u);  // a first step
    EXPECT_NEAR(u, -0.5 * slope / (std::abs(slope) + 1e-8), 1e-12) << slope;
  }
}

TEST(GalaxyPriors, AUniformLatentFarOutStaysWithinItsEndsAndKeepsASlope) {
  const Prior prior = {Prior::uniform, 0, 1, 0};
  const Latent low = latent_of(prior, -800), high = latent_of(prior, 800);
  EXPECT_GT(low.value, 0);
  EXPECT_GT(low.slope, 0);
  EXPECT_LT(high.value, 1);
  EXPECT_GT(high.slope, 0);
}

TEST(GalaxyShapes, AShearOrADistortionIsNoneWithinABillionthOfOne) {
  for (const int first : {0, 4})
    for (const double below : {2e-9, 5e-10}) {
      const double size = std::sqrt(1 - below);
      double z[8] = {0, 0, 1, 0.5, 0, 0, 4, 4};
      z[first] = 0.6 * size;
      z[first + 1] = 0.8 * size;
      EXPECT_EQ(admissible(z), below > 1e-9) << first << ' ' << below;
    }
}

}  // namespace
}  // namespace holdfast::galaxy_shear
