// SPDX-License-Identifier: Apache-2.0
// Regressions planted into a suite, and the real commands that must notice: on the dry device,
// where counts are exact.
#include <gmock/gmock.h>

#include "planted/gate.hpp"

namespace holdfast::planted {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;

// How a sentence about the optimized variant begins.
const std::string regression =
    "REGRESSION +planted/smooth/n:2001/f64 +cuda-dry-sm_90 +optimized .*";

class PlantedDry : public Planted {
 protected:
  static void SetUpTestSuite() { accept_as_built(PLANTED_BINARY, "cuda-dry:sm_90", "planted_dry"); }
};

TEST_F(PlantedDry, WhatWasAcceptedPasses) {
  const Said said = gate->check("unplanted");
  EXPECT_EQ(said.exit, 0) << said.words;
}

TEST_F(PlantedDry, OneMoreLaunchPerStepFailsTheBuild) {
  const Said said = judge("launch");
  EXPECT_EQ(said.exit, 1);
  EXPECT_THAT(said.words, ContainsRegex(regression + "launches +rose from 1 to 2"));
}

TEST_F(PlantedDry, OneMoreAllocationFailsTheBuild) {
  const Said said = judge("allocation");
  EXPECT_EQ(said.exit, 1);
  EXPECT_THAT(said.words, ContainsRegex(regression + "peak_bytes +rose from 32016 B to 48024 B"));
}

TEST_F(PlantedDry, AProgramCompiledInEveryStepFailsTheBuild) {
  const Said said = judge("recompile");
  EXPECT_EQ(said.exit, 1);
  EXPECT_THAT(said.words, ContainsRegex(regression + "compile_steady +rose from 0 to 1"));
}

TEST_F(PlantedDry, AProgramCompiledWithoutPermissionIsSaidToBe) {
  const Said said = judge("undeclared");
  EXPECT_EQ(said.exit, 1);
  EXPECT_THAT(said.words, HasSubstr("in a steady step"));
}

TEST_F(PlantedDry, ACrashIsIncomplete) {
  const Said said = judge("crash");
  EXPECT_EQ(said.exit, 3);
  EXPECT_THAT(said.words, ContainsRegex("planted/smooth/n:2001/f64.*crashed"));
}

}  // namespace
}  // namespace holdfast::planted
