// SPDX-License-Identifier: Apache-2.0
// Regressions planted into gpt_train, and the real commands that must notice and name the cause.
#include "planted/nightly_plants.hpp"

namespace holdfast::planted {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::string step =
                      "planted_training/train_step/model:tiny/opt:adamw/docs:0/launch:graph/bf16",
                  attention = "planted_training/attention/pass:fwd/model:tiny/docs:0/f32",
                  micro_step =
                      "planted_training/train_step/model:micro/opt:adamw/docs:0/launch:host/f64";

class PlantedTraining : public Planted {
 protected:
  static void SetUpTestSuite() {
    accept_as_built(PLANTED_TRAINING_BINARY, "cuda-dry:sm_90", "planted_training");
  }
};

TEST_F(PlantedTraining, WhatWasAcceptedPasses) {
  expect_well(gate->check("unplanted"));
}

TEST_F(PlantedTraining, OneMoreLaunchFailsTheBuildAndIsNamed) {
  expect_found("launch", 1, {regression(step) + " launches +rose from 65 to 66", "sum_rows"});
}

TEST_F(PlantedTraining, OneMoreCopyFailsTheBuild) {
  expect_found("copy", 1, {regression(step) + "d2h_bytes +rose from 16 B to 24 B"});
}

TEST_F(PlantedTraining, AGraphThatIsLostFailsTheBuild) {
  expect_found("no_graph", 1, {regression(step) + "host_launches +rose from 1 to 65"});
}

TEST(PlantedTrainingOnHost, IsRightAsBuilt) {
  EXPECT_THAT(judged_on_host(PLANTED_TRAINING_BINARY, "").words, Not(HasSubstr("WRONG")));
}

TEST(PlantedTrainingOnHost, OneMaskBitOfOneTileIsWrong) {
  expect_said(judged_on_host(PLANTED_TRAINING_BINARY, "mask"), 1,
              {"WRONG +" + attention, "plain loops in f64"});
}

TEST(PlantedTrainingOnHost, AStepThatIsSkippedWhileItIsTimedIsWrong) {
  expect_said(judged_on_host(PLANTED_TRAINING_BINARY, "skips"), 1,
              {"WRONG +" + micro_step, "a step must do the same whether it is timed or not"});
}

// Nothing of attention is counted on a host: only its result shows it.
TEST(PlantedTrainingOnHost, AnAttentionThatIdlesWhileItIsTimedIsWrong) {
  expect_said(judged_on_host(PLANTED_TRAINING_BINARY, "idles"), 1,
              {"WRONG +" + attention,
               "verified again after the timed section, the optimized variant is no "
               "result: it holds what is no number"});
}

TEST(PlantedDeviceCode, OfTheTrainingIsFoundByItsCause) {
  expect_found(training_of_more_registers());
}

}  // namespace
}  // namespace holdfast::planted
