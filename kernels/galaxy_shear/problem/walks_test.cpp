// SPDX-License-Identifier: Apache-2.0
// Walks in cases that no scene reaches: trajectories that are refused, inferences that fail.
#include "galaxy_shear/problem/walks.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace holdfast::galaxy_shear {
namespace {

const Model of_one_latent = {.latents = 1};  // a shear of Normal(0, 1)

// A sample whose trajectory ends with a loss that is larger than at its start by `more`.
Hamiltonian::State sampled(double more) {
  Hamiltonian::State state = {};
  state.u[0] = 0.25;
  for (int leap = 0; leap <= Hamiltonian::leapfrogs; ++leap) {
    const double gradient[8] = {}, loss = leap < Hamiltonian::leapfrogs ? 0 : more;
    double u[8];
    const Point point = Hamiltonian::propose(of_one_latent, 0, state, u);
    Hamiltonian::take(of_one_latent, 0, point, u, true, loss, gradient, state);
  }
  return state;
}

TEST(GalaxyWalks, ASampleOfLessEnergyIsTaken) {
  const Hamiltonian::State state = sampled(-1000);
  EXPECT_EQ(state.taken, 1);
  EXPECT_NE(state.u[0], 0.25);
  EXPECT_EQ(state.u[0], state.at[0]);
}

TEST(GalaxyWalks, ASampleOfFarMoreEnergyOrOfNoneIsRefused) {
  for (const double more : {1000., std::numeric_limits<double>::quiet_NaN()}) {
    const Hamiltonian::State state = sampled(more);
    EXPECT_EQ(state.taken, 0) << more;
    EXPECT_EQ(state.u[0], 0.25) << more;
    EXPECT_EQ(state.t, 1) << "and the next one begins";
    EXPECT_EQ(state.leap, 0);
  }
}

TEST(GalaxyWalks, AnInferenceWithoutAShapeStaysWhereItIsAndTellsItsStep) {
  Variational::State state = {};
  state.location[0] = 0.5;
  state.power1 = state.power2 = 1;
  for (const bool shaped : {false, true}) {
    const double gradient[8] = {1};
    double u[8];
    const Point point = Variational::propose(of_one_latent, 0, state, u);
    EXPECT_TRUE(
        std::isnan(Variational::take(of_one_latent, 0, point, u, shaped, 1, gradient, state)));
    EXPECT_EQ(state.status, 1);
    EXPECT_EQ(state.location[0], 0.5);
  }
}

TEST(GalaxyWalks, ALogarithmOfOneAndAPowerHasAValueHoweverLargeThePowerIs) {
  EXPECT_EQ(softplus(800), 800);
  EXPECT_EQ(softplus(-800), 0);
  EXPECT_NEAR(softplus(0), std::log(2), 1e-15);
}

}  // namespace
}  // namespace holdfast::galaxy_shear
