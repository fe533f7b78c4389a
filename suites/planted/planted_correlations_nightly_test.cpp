// SPDX-License-Identifier: Apache-2.0
// Regressions planted into xpcs_fit, and the real commands that must notice and name the cause.
#include "planted/nightly_plants.hpp"

namespace holdfast::planted {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::string model = "planted_correlations/g2/mode:laminar/size:t/f64",
                  sums =
                      "planted_correlations/normal_eq/mode:laminar/scaling:shared/loss:linear/"
                      "weights:unit/size:t/f64",
                  fit =
                      "planted_correlations/fit/strategy:standard/source:resident/mode:laminar/"
                      "size:t/f64";

class PlantedCorrelations : public Planted {
 protected:
  static void SetUpTestSuite() {
    accept_as_built(PLANTED_CORRELATIONS_BINARY, "cuda-dry:sm_90", "planted_correlations");
  }
};

TEST_F(PlantedCorrelations, WhatWasAcceptedPasses) {
  expect_well(gate->check("unplanted"));
}

TEST_F(PlantedCorrelations, OneMoreLaunchFailsTheBuildAndIsNamed) {
  expect_found(
      "launch", 1,
      {regression(model) + " launches +rose from 2 to 4", "kernel flat_model<double, 1> is new"});
}

TEST_F(PlantedCorrelations, OneMoreCopyFailsTheBuild) {
  expect_found("copy", 1,
               {regression(sums) + "d2h_bytes +rose from 0 B to 8 B",
                regression(fit) + "d2h_bytes +rose from 0 B to 8 B"});
}

TEST_F(PlantedCorrelations, AGraphThatIsLostFailsTheBuild) {
  expect_found("no_graph", 1, {regression(fit) + "host_launches +rose from 8 to "});
}

TEST(PlantedCorrelationsOnHost, AreRightAsBuilt) {
  EXPECT_THAT(judged_on_host(PLANTED_CORRELATIONS_BINARY, "").words, Not(HasSubstr("WRONG")));
}

TEST(PlantedCorrelationsOnHost, AWrongPhaseOfOneAngleIsWrong) {
  expect_said(judged_on_host(PLANTED_CORRELATIONS_BINARY, "phase"), 1,
              {"WRONG +" + model, "WRONG +" + sums, "WRONG +" + fit,
               "the plain formulation, point by point"});
}

TEST(PlantedCorrelationsOnHost, AStepThatIsSkippedWhileItIsTimedIsWrong) {
  expect_said(judged_on_host(PLANTED_CORRELATIONS_BINARY, "idles"), 1,
              {"WRONG +" + sums, "verified again after the timed section"});
}

TEST(PlantedDeviceCode, OfTheCorrelationsIsFoundByItsCause) {
  expect_found(correlations_of_more_registers());
}

}  // namespace
}  // namespace holdfast::planted
