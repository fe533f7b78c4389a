// SPDX-License-Identifier: Apache-2.0
// Regressions planted into galaxy_shear, and the real commands that must notice and name the cause.
#include "planted/nightly_plants.hpp"

namespace holdfast::planted {
namespace {

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
  expect_found(
      "launch", 1,
      {regression(render) + " launches +rose from 1 to 2", "kernel psf_table<double> is new"});
}

TEST_F(PlantedGalaxies, OneMoreCopyFailsTheBuild) {
  expect_found("copy", 1, {regression(step) + "d2h_bytes +rose from 0 B to 8 B"});
}

TEST_F(PlantedGalaxies, AGraphThatIsLostFailsTheBuild) {
  expect_found("no_graph", 1, {regression(fit) + "host_launches +rose from 10 to 200"});
}

TEST(PlantedGalaxiesOnHost, AreRightAsBuilt) {
  EXPECT_THAT(judged_on_host(PLANTED_GALAXIES_BINARY, "").words, Not(HasSubstr("WRONG")));
}

TEST(PlantedGalaxiesOnHost, ALostHalfWeightOfTheNyquistLineIsWrong) {
  expect_said(judged_on_host(PLANTED_GALAXIES_BINARY, "nyquist"), 1,
              {"WRONG +" + render, "WRONG +" + step, "published values of a small scene"});
}

TEST(PlantedGalaxiesOnHost, AStepThatIsSkippedWhileItIsTimedIsWrong) {
  expect_said(judged_on_host(PLANTED_GALAXIES_BINARY, "skips"), 1,
              {"WRONG +" + step, "verified again after the timed section"});
}

TEST(PlantedDeviceCode, OfTheShearFitIsFoundByItsCause) {
  expect_found(shear_fit_of_more_registers());
}

}  // namespace
}  // namespace holdfast::planted
