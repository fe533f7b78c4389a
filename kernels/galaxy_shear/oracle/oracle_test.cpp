// SPDX-License-Identifier: Apache-2.0
#include "galaxy_shear/oracle/oracle.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "galaxy_shear/data/golden.hpp"
#include "testing/differences.hpp"

namespace holdfast::galaxy_shear {
namespace {

double peak(const std::vector<double>& image) {
  return *std::max_element(image.begin(), image.end());
}

double largest(const std::vector<double>& values) {
  double most = 0;
  for (const double value : values) most = std::max(most, std::abs(value));
  return most;
}

class PublishedScenes : public testing::TestWithParam<golden::Golden (*)()> {};

TEST_P(PublishedScenes, AreDrawnToATrillionthOfThePeak) {
  const golden::Golden golden = GetParam()();
  const std::vector<double> image = oracle::image(golden.scene, golden.truth);
  for (const auto& [i, j, value] : golden.pixels)
    EXPECT_NEAR(image[i * golden.scene.image + j], value, 1e-12 * peak(image)) << i << ' ' << j;
  if (golden.sum == 0) return;  // not published
  EXPECT_NEAR(std::accumulate(image.begin(), image.end(), 0.), golden.sum, 1e-12);
}

TEST_P(PublishedScenes, HaveThePublishedLossAndGradient) {
  const golden::Golden golden = GetParam()();
  const auto found = oracle::objective(golden.scene, golden::data(golden), golden.start);
  EXPECT_NEAR(found.loss, golden.loss, 1e-10 * std::abs(golden.loss));
  EXPECT_LT(largest_difference(found.gradient, golden.gradient), 1e-9 * largest(golden.gradient));
}

INSTANTIATE_TEST_SUITE_P(GalaxyOracle, PublishedScenes,
                         testing::Values(golden::t_gaussian, golden::t_moffat, golden::t_moffat_31,
                                         golden::l0, golden::l0m, golden::full));

TEST(GalaxyOracle, HasThePublishedPriorsOfTheSmallScenesStart) {
  const golden::Golden t = golden::t_gaussian();
  EXPECT_NEAR(oracle::prior_loss(t.scene, t.start), golden::t_prior_loss, 1e-14);
}

TEST(GalaxyOracle, HasThePublishedLossWhereTheBenchmarksFitEnds) {
  const golden::Golden l0 = golden::l0();
  const std::vector<double> end(std::begin(golden::l0_after_200), std::end(golden::l0_after_200));
  EXPECT_NEAR(oracle::loss(l0.scene, golden::data(l0), end) / golden::l0_loss_after_200, 1, 1e-10);
}

TEST(GalaxyOracle, PutsTheSmallScenesLightWhereItBelongs) {
  const golden::Golden t = golden::t_gaussian();
  const std::vector<double> image = oracle::image(t.scene, t.truth);
  double sum = 0;
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 8; ++j) sum += image[i * 8 + j] * (1 + i + 10 * j);
  EXPECT_NEAR(sum, 3.5272987638249191e+01, 1e-12 * 35);
}

TEST(GalaxyOracle, HasThePublishedLossAndGradientOfAScene) {
  const golden::Golden golden = golden::scene();
  const auto data = scene_data_of(golden.scene, Noise::pattern, golden::scene_objects);
  const auto found = oracle::scene_objective(golden.scene, data, golden.start);
  EXPECT_NEAR(found.loss, golden.loss, 1e-10 * std::abs(golden.loss));
  EXPECT_LT(largest_difference(found.gradient, golden.gradient), 1e-9 * largest(golden.gradient));
}

TEST(GalaxyOracle, HasThePublishedProductWithACotangent) {
  const golden::Golden t = golden::t_gaussian(), l0 = golden::l0();
  const Parameters of_t = {9.2221736700166014e-03,  4.3077739912723671e-03, 4.3248267830560475e-03,
                           -1.6155062068981395e-02, 4.6140697894750567e-03, 2.1299335337748781e-03,
                           -3.6263279798663325e-05, -9.8074005953900471e-04};
  EXPECT_LT(largest_difference(oracle::vjp(t.scene, t.truth, golden::cotangent(8)), of_t), 1e-13);
  const Parameters of_l0 = {-5.9056778742352792e-04, 8.1142197571482891e-04,
                            -3.9639828388156507e-04, 1.9882035210703783e-03,
                            -2.9525436532239278e-04, 4.0567041675862865e-04,
                            7.7299892501920547e-05,  1.6495804940999179e-04};
  EXPECT_LT(largest_difference(oracle::vjp(l0.scene, l0.truth, golden::cotangent(48)), of_l0),
            1e-14);
  const Parameters ones = oracle::vjp(l0.scene, l0.truth, std::vector<double>(48 * 48, 1));
  EXPECT_NEAR(ones[g1], -3.7354848389835251e-08, 1e-15);
  EXPECT_NEAR(ones[g2], 0, 1e-15);
}

TEST(GalaxyOracle, FitsTheSmallSceneAsPublished) {
  const golden::Golden t = golden::t_gaussian();
  const oracle::Fit fit = oracle::fit(t.scene, golden::data(t), t.start, 20);
  EXPECT_LT(largest_difference(fit.u, std::span(golden::t_after_20)), 1e-12);
  for (const auto& [step, value] : golden::t_losses)
    EXPECT_NEAR(fit.losses[step], value, 1e-8) << step;
}

TEST(GalaxyOracle, TakesTheBenchmarksFirstStepsAsPublished) {
  const golden::Golden l0 = golden::l0();
  const oracle::Fit fit = oracle::fit(l0.scene, golden::data(l0), l0.start, 5);
  EXPECT_LT(largest_difference(fit.u, std::span(golden::l0_after_5)), 1e-12);
  EXPECT_NEAR(fit.losses[1], golden::l0_losses[1].value, 1e-3);
}

TEST(GalaxyOracle, KnowsTheMoffatProfilesTransform) {
  const auto at = [](double beta, double argument) {
    const PsfShape shape = {Psf::moffat, 1, beta};
    return oracle::psf(shape, argument * 2 * std::sqrt(std::pow(2, 1 / beta) - 1));
  };
  EXPECT_NEAR(at(2.5, 1), 7.3575888234288478e-01, 1e-13);
  EXPECT_NEAR(at(3.5, 1), 8.5838536273336541e-01, 1e-13);
  EXPECT_NEAR(at(3.1, 0.5), 9.4799936068005319e-01, 1e-13);
  EXPECT_NEAR(at(3.1, 2), 5.2497610958439422e-01, 1e-13);
  EXPECT_NEAR(at(4.765, 3), 4.9439033201453370e-01, 1e-13);
}

// A position's latent is known to 1e-4, which is a quarter of that in pixels.
TEST(GalaxyOracle, KnowsHowCloselyTheBenchmarksNoiseTellsItsLatents) {
  const Scene scene = scene_of({});
  const auto widths = oracle::posterior_widths(scene, truth_of(scene, 0));
  ASSERT_EQ(widths.size(), 4U);
  for (const int k : {0, 1}) EXPECT_NEAR(widths[k], 1.7e-5, 0.05e-5) << k;
  for (const int k : {2, 3}) EXPECT_NEAR(widths[k], 2.5e-5, 0.05e-5) << k;
}

TEST(GalaxyData, NoiseIsThePublishedStreamAndItsPattern) {
  const std::vector<double> normal = noise_of(Noise::philox, 48, 0);
  const double first[] = {-6.9478678494270377e-02, 1.4349907895397420e+00, 8.4530033174909180e-01,
                          3.1928704872210978e-01};
  EXPECT_LT(largest_difference(std::span(normal).first(4), std::span(first)), 1e-15);
  EXPECT_EQ(noise_of(Noise::pattern, 8, 2)[9], ((7 + 13 + 3 + 10) % 17 - 8) / 5.);
}

}  // namespace
}  // namespace holdfast::galaxy_shear
