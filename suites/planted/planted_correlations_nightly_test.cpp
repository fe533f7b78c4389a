// SPDX-License-Identifier: Apache-2.0
// Regressions planted into xpcs_fit, and the real commands that must notice and name the cause.
#include "planted/nightly_plants.hpp"

namespace holdfast::planted {
namespace {

using testing::ContainsRegex;
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
  const Said said = judge("launch");
  EXPECT_EQ(said.exit, 1) << said.words;
  EXPECT_THAT(said.words, ContainsRegex(regression(model) + " launches +rose from 2 to 4"));
  EXPECT_THAT(said.words, HasSubstr("kernel flat_model<double, 1> is new"));
}

TEST_F(PlantedCorrelations, OneMoreCopyFailsTheBuild) {
  const Said said = judge("copy");
  EXPECT_EQ(said.exit, 1) << said.words;
  EXPECT_THAT(said.words, ContainsRegex(regression(sums) + "d2h_bytes +rose from 0 B to 8 B"));
  EXPECT_THAT(said.words, ContainsRegex(regression(fit) + "d2h_bytes +rose from 0 B to 8 B"));
}

TEST_F(PlantedCorrelations, AGraphThatIsLostFailsTheBuild) {
  const Said said = judge("no_graph");
  EXPECT_EQ(said.exit, 1) << said.words;
  EXPECT_THAT(said.words, ContainsRegex(regression(fit) + "host_launches +rose from 8 to "));
}

TEST(PlantedCorrelationsOnHost, AreRightAsBuilt) {
  EXPECT_THAT(judged_on_host(PLANTED_CORRELATIONS_BINARY, "").words, Not(HasSubstr("WRONG")));
}

TEST(PlantedCorrelationsOnHost, AWrongPhaseOfOneAngleIsWrong) {
  const Said said = judged_on_host(PLANTED_CORRELATIONS_BINARY, "phase");
  EXPECT_EQ(said.exit, 1) << said.words;
  for (const std::string& one : {model, sums, fit})
    EXPECT_THAT(said.words, ContainsRegex("WRONG +" + one));
  EXPECT_THAT(said.words, HasSubstr("the plain formulation, point by point"));
}

TEST(PlantedCorrelationsOnHost, AStepThatIsSkippedWhileItIsTimedIsWrong) {
  const Said said = judged_on_host(PLANTED_CORRELATIONS_BINARY, "idles");
  EXPECT_EQ(said.exit, 1) << said.words;
  EXPECT_THAT(said.words, ContainsRegex("WRONG +" + sums));
  EXPECT_THAT(said.words, HasSubstr("verified again after the timed section"));
}

TEST(PlantedDeviceCode, OfTheCorrelationsIsFoundByItsCause) {
  expect_found(correlations_of_more_registers());
}

}  // namespace
}  // namespace holdfast::planted
