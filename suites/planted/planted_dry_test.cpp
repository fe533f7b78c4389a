// SPDX-License-Identifier: Apache-2.0
// Regressions planted into a suite, and the real commands that must notice: on the dry device,
// where counts are exact.
#include "planted/gate.hpp"

namespace holdfast::planted {
namespace {

// The beginning of a sentence about the optimized variant.
const std::string regression =
    "REGRESSION +planted/smooth/n:2001/f64 +cuda-dry-sm_90 +optimized .*";

class PlantedDry : public Planted {
 protected:
  static void SetUpTestSuite() { accept_as_built(PLANTED_BINARY, "cuda-dry:sm_90", "planted_dry"); }
};

TEST_F(PlantedDry, WhatWasAcceptedPasses) {
  expect_well(gate->check("unplanted"));
}

TEST_F(PlantedDry, OneMoreLaunchPerStepFailsTheBuild) {
  expect_found("launch", 1, {regression + "launches +rose from 1 to 2"});
}

TEST_F(PlantedDry, OneMoreAllocationFailsTheBuild) {
  expect_found("allocation", 1, {regression + "peak_bytes +rose from 32.02 kB to 48.02 kB"});
}

TEST_F(PlantedDry, AStateThatIsCopiedBackFailsTheBuild) {
  expect_found("copy_back", 1, {regression + "copies +rose from 0 to 1"});
}

TEST_F(PlantedDry, AnArrayThatIsFilledInVainFailsTheBuild) {
  expect_found("fill", 1, {regression + "moved_bytes +rose from 0 B to 16.01 kB"});
}

TEST_F(PlantedDry, AKernelThatIsToldToDoMoreFailsTheBuild) {
  expect_found(
      "twice", 1,
      {regression + "argument_sum +rose from 2004 to 2005", "smooth: argument_sum 2004 -> 2005"});
}

TEST_F(PlantedDry, AProgramCompiledInEveryStepFailsTheBuild) {
  expect_found("recompile", 1, {regression + "compile_steady +rose from 0 programs to 1 program"});
}

TEST_F(PlantedDry, AProgramCompiledWithoutPermissionIsSaidToBe) {
  expect_found("undeclared", 1, {"in a steady step"});
}

// The beginning of a sentence about the optimized loop.
const std::string of_the_loop =
    "REGRESSION +planted/loop/n:2001/f64 +cuda-dry-sm_90 +optimized [^%]*";

TEST_F(PlantedDry, AGraphThatIsLostFailsTheBuild) {
  expect_found("no_graph", 1, {of_the_loop + "host_launches +rose from 1 to 8"});
}

TEST_F(PlantedDry, BlocksOfAnotherShapeFailTheBuild) {
  expect_found("shape", 1,
               {"launched_blocks +[a-z ]*from 16 to 32",
                "smooth: block_threads 128 -> 64, blocks 16 -> 32"});
}

TEST_F(PlantedDry, DynamicSharedMemoryThatNobodyNeedsFailsTheBuild) {
  expect_found("dynamic", 1,
               {"block_shared_bytes +rose from 0 B to 4096 B",
                "smooth: dynamic_shared_bytes 0 B -> 4096 B"});
}

TEST_F(PlantedDry, ACrashIsIncomplete) {
  expect_found("crash", 3, {"planted/smooth/n:2001/f64.*crashed"});
}

}  // namespace
}  // namespace holdfast::planted
