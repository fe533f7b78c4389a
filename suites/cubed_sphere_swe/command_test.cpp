// SPDX-License-Identifier: Apache-2.0
// The real binary as a user types it: its list, the options of its start, and its answers to
// invalid input.
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "harness/testing/suite_command.hpp"
#include "harness/testing/told.hpp"

namespace holdfast {
namespace {

using nlohmann::json;
using testing::Contains;
using testing::Not;

struct CubedSphereCommand : SuiteInAShell {
  static std::set<std::string> ids(const std::string& options = "") {
    return listed_ids(CUBED_SPHERE_SWE_BINARY " " + options);
  }
  // The result of a short run on a host.
  json measured(const std::string& options) {
    const auto out = folder / "out.json";
    const Said said = run("HOLDFAST_NUM_THREADS=1 " CUBED_SPHERE_SWE_BINARY " " + options +
                          " --out=" + out.string());
    EXPECT_EQ(said.exit, 0) << said.words;
    return said.exit == 0 ? json::parse(read(out)).at("cases") : json::array();
  }
};

TEST_F(CubedSphereCommand, LoopsThatStayOnAGpuAreBesidePublishedTimesWhereThereAreSome) {
  std::set<std::string> beside;
  for (const json& one : listed_cases(CUBED_SPHERE_SWE_BINARY))
    for (const auto& [device, promised] : one.at("devices").items())
      for (const json& metric : promised.at("metrics"))
        if (metric == "vs_seed_loop") {
          EXPECT_EQ(device, "cuda");
          beside.insert(one.at("id"));
        }
  std::set<std::string> expected;
  for (const std::string id :
       {"24/steps:100/launch:graph", "48/steps:100/launch:graph", "96/steps:100/launch:graph",
        "192/steps:100/launch:graph", "384/steps:100/launch:graph",
        "48/steps:100/launch:persistent", "96/steps:100/launch:persistent",
        "192/steps:100/launch:persistent", "384/steps:100/launch:persistent"})
    expected.insert("cubed_sphere_swe/loop/n:" + id + "/diag:none/f64");
  EXPECT_EQ(beside, expected);
}

TEST_F(CubedSphereCommand, FormsOfTheReferenceAreInTheFullTier) {
  const std::set<std::string> full = ids();
  for (const char* id : {"rk4_step/tile/n:48/f64", "rk4_step/tile/n:384/f64",
                         "loop/n:384/steps:100/launch:graph_step/diag:none/f64"}) {
    EXPECT_THAT(full, Contains(id));
    EXPECT_THAT(ids("--tier=gate"), Not(Contains(id)));
  }
}

TEST_F(CubedSphereCommand, AStartAtRestLeavesOutWhatIsMadeOfVelocities) {
  const std::set<std::string> at_rest = ids("--size=12 --start=seed");
  for (const char* id : {"rhs/n:12/f64", "rk4_step/n:12/f64", "project/n:12/f64",
                         "gradient/n:12/comp:both/f64", "operator_apply/n:12/op:dvc/dir:1/f64"})
    EXPECT_THAT(at_rest, Contains(id));
  for (const char* id : {"contravariant/n:12/f64", "divergence/n:12/f64", "sat/n:12/f64",
                         "operator_apply/n:12/op:pcv/dir:2/f64"}) {
    EXPECT_THAT(at_rest, Not(Contains(id)));
    EXPECT_THAT(ids("--size=12 --start=random"), Contains(id));
  }
}

TEST_F(CubedSphereCommand, ASmoothStartIsRightInEveryCase) {
  const json all = measured("--size=12 --steps=3 --tier=full --start=seed");
  EXPECT_GT(all.size(), 10u);
  for (const json& one : all) EXPECT_EQ(one.at("status"), "ok") << one.at("id");
}

TEST_F(CubedSphereCommand, AShorterStepIsRightWhereverStepsAreMade) {
  const json all = measured("--size=12 --steps=3 --dt=1e-3 --filter='rk4_step|loop|memory'");
  EXPECT_GT(all.size(), 3u);
  for (const json& one : all) EXPECT_EQ(one.at("status"), "ok") << one.at("id");
}

// The published errors at time 1; with the sign of the published program they are others.
TEST_F(CubedSphereCommand, ALoopFromABumpTellsHowFarItIsFromTheExactHeights) {
  const auto error = [&](const std::string& options, const char* name) {
    const json all =
        measured("--size=12 --steps=36 --start=face --filter=diag:none/f64 " + options);
    if (all.size() != 1) return 0.;
    const json& metrics = all.at(0).at("variants").at("optimized").at("metrics");
    return metrics.at(name).at("value").get<double>();
  };
  EXPECT_NEAR(error("", "exact_l2_error"), 1.8940e-2, 1e-6);
  EXPECT_NEAR(error("", "exact_max_error"), 2.3192e-2, 1e-6);
  EXPECT_GT(error("--q12=upstream", "exact_l2_error"), 2.5e-2);
}

TEST_F(CubedSphereCommand, NonsenseAboutTheStartOrTheTimeStepIsUsage) {
  expect_usage(suite("--start=storm"), "unknown start 'storm'; use one of seed, face");
  expect_usage(suite("--dt=soon"), "--dt=soon is no number");
  for (const std::string dt : {"-0.1", "0", "nan", "inf"})
    expect_usage(suite("--dt=" + dt),
                 "dt must be positive, " + dt + " given; leave it out to have 1 / (3 N)");
  expect_usage(suite("--dt=0.01 --size=96"),
               "exceeds the RK4 stability limit 0.6; use a smaller dt or a coarser grid");
}

}  // namespace
}  // namespace holdfast
