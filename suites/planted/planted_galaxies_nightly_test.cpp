// SPDX-License-Identifier: Apache-2.0
// Regressions planted into galaxy_shear, and the real commands that must notice and name the cause.
#include "planted/nightly_plants.hpp"

namespace holdfast::planted {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

const std::string render = "planted_galaxies/render/fft:128/image:48/batch:1/psf:gaussian/f64",
                  step =
                      "planted_galaxies/svi_step/fft:128/image:48/batch:1/psf:gaussian/latents:4/"
                      "f64",
                  fit =
                      "planted_galaxies/map/fft:128/image:48/batch:1/psf:gaussian/latents:4/"
                      "steps:200/launch:graph/f64";

class PlantedGalaxies : public Planted {
 protected:
  static void SetUpTestSuite() {
    accept_as_built(PLANTED_GALAXIES_BINARY, "cuda-dry:sm_90", "planted_galaxies");
  }
};

TEST_F(PlantedGalaxies, WhatWasAcceptedPasses) {
  expect_well(gate->check("unplanted"));
}

TEST_F(PlantedGalaxies, OneMoreLaunchFailsTheBuildAndIsNamed) {
  const Said said = judge("launch");
  EXPECT_EQ(said.exit, 1) << said.words;
  EXPECT_THAT(said.words, ContainsRegex(regression(render) + " launches +rose from 1 to 2"));
  EXPECT_THAT(said.words, HasSubstr("kernel psf_table<double> is new"));
}

TEST_F(PlantedGalaxies, OneMoreCopyFailsTheBuild) {
  const Said said = judge("copy");
  EXPECT_EQ(said.exit, 1) << said.words;
  EXPECT_THAT(said.words, ContainsRegex(regression(step) + "d2h_bytes +rose from 0 B to 8 B"));
}

TEST_F(PlantedGalaxies, AGraphThatIsLostFailsTheBuild) {
  const Said said = judge("no_graph");
  EXPECT_EQ(said.exit, 1) << said.words;
  EXPECT_THAT(said.words, ContainsRegex(regression(fit) + "host_launches +rose from 10 to 200"));
}

TEST(PlantedGalaxiesOnHost, AreRightAsBuilt) {
  EXPECT_THAT(judged_on_host(PLANTED_GALAXIES_BINARY, "").words, Not(HasSubstr("WRONG")));
}

TEST(PlantedGalaxiesOnHost, ALostHalfWeightOfTheNyquistLineIsWrong) {
  const Said said = judged_on_host(PLANTED_GALAXIES_BINARY, "nyquist");
  EXPECT_EQ(said.exit, 1) << said.words;
  EXPECT_THAT(said.words, ContainsRegex("WRONG +" + render));
  EXPECT_THAT(said.words, ContainsRegex("WRONG +" + step));
  EXPECT_THAT(said.words, HasSubstr("published values of a small scene"));
}

TEST(PlantedGalaxiesOnHost, AStepThatIsSkippedWhileItIsTimedIsWrong) {
  const Said said = judged_on_host(PLANTED_GALAXIES_BINARY, "skips");
  EXPECT_EQ(said.exit, 1) << said.words;
  EXPECT_THAT(said.words, ContainsRegex("WRONG +" + step));
  EXPECT_THAT(said.words, HasSubstr("verified again after the timed section"));
}

TEST(PlantedDeviceCode, OfTheShearFitIsFoundByItsCause) {
  expect_found(shear_fit_of_more_registers());
}

}  // namespace
}  // namespace holdfast::planted
