// SPDX-License-Identifier: Apache-2.0
#include "harness/case/case.hpp"

#include <gtest/gtest.h>

#include "runtime/base/error.hpp"

namespace holdfast {
namespace {

TEST(CaseId, HoldsFamilyAxesInTheirOrderAndDtype) {
  EXPECT_EQ(id("cubed_sphere_swe/loop", {{"n", 96}, {"steps", 100}, {"launch", "graph"}}, "f64"),
            "cubed_sphere_swe/loop/n:96/steps:100/launch:graph/f64");
}

TEST(CaseId, RefusesUpperCase) {
  EXPECT_THROW(id("suite/Rhs", {{"n", 8}}, "f64"), Error);
}

TEST(CaseId, RefusesASlashInAnAxis) {
  EXPECT_THROW(id("suite/rhs", {{"n/m", 8}}, "f64"), Error);
}

TEST(CaseId, RefusesAnEmptyDtype) {
  EXPECT_THROW(id("suite/rhs", {}, ""), Error);
}

TEST(Tiers, IncludeTheOnesBefore) {
  EXPECT_LT(Tier::smoke, Tier::gate);
  EXPECT_LT(Tier::gate, Tier::full);
}

TEST(Tiers, AreReadAsTheyAreWritten) {
  for (const Tier each : {Tier::smoke, Tier::gate, Tier::full}) EXPECT_EQ(tier(name(each)), each);
  EXPECT_THROW(tier("nightly"), Error);
}

TEST(Devices, AreChosenByKind) {
  const Case one = {.devices = {"host", "cuda-dry"}};
  EXPECT_TRUE(one.runs_on("cuda-dry:sm_90"));
  EXPECT_TRUE(one.runs_on("host"));
  EXPECT_FALSE(one.runs_on("cuda:1"));
}

TEST(References, AreLeftOutOnTheDevicesThatAreTooSlowForThem) {
  const Case one = {.unreferenced = {"host"}};
  EXPECT_FALSE(one.has_reference("host"));
  EXPECT_TRUE(one.has_reference("cuda-dry:sm_90"));
  EXPECT_FALSE((Case{.reference = false}).has_reference("cuda"));
}

TEST(References, AreLeftOutOnEachDeviceOfAKind) {
  const Case one = {.unreferenced = {"cuda", "cuda-dry"}};
  EXPECT_FALSE(one.has_reference("cuda:1"));
  EXPECT_FALSE(one.has_reference("cuda-dry:sm_90"));
  EXPECT_TRUE(one.has_reference("host"));
}

TEST(Counting, IsExplainedWhereACaseThatGatesOnAHostDoesWithoutIt) {
  const Case stepped = {.recipe = Steps{}, .uncounted = "it is slow"};
  EXPECT_EQ(stepped.why_uncounted(), "it is slow");
  EXPECT_EQ((Case{.recipe = Protocol()}).why_uncounted(), "it is not one repeated step");
  EXPECT_EQ((Case{.recipe = Steps{}, .counted = true}).why_uncounted(), std::nullopt);
  EXPECT_EQ((Case{.tier = Tier::full}).why_uncounted(), std::nullopt);
  EXPECT_EQ((Case{.devices = {"cuda"}}).why_uncounted(), std::nullopt);
}

TEST(Declarations, ExistOnTheirKindsOfDevices) {
  const MetricDeclaration declared = {.name = "mass_drift", .devices = {"host", "cuda"}};
  EXPECT_TRUE(declared.exists_on("cuda:1"));
  EXPECT_FALSE(declared.exists_on("cuda-dry:sm_90"));
}

}  // namespace
}  // namespace holdfast
