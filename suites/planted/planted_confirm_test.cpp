// SPDX-License-Identifier: Apache-2.0
// Suspicions, and their comparison by two real builds: holdfast check --confirm, and holdfast ab.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "formats/schema_check.hpp"
#include "planted/gate.hpp"

namespace holdfast::planted {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::AnyOf;
using testing::ContainsRegex;
using testing::HasSubstr;

// What a comparison says of a build that is no slower.
constexpr const char* looked_at = "fell from .*(undecided:|refuted by) A/B of [0-9]+ units?: ";

// Creates <folder>/bin/planted and its list: the suite as built, with a plant in it.
fs::path build(const fs::path& folder, const std::string& plant = "") {
  fs::create_directories(folder / "bin");
  const fs::path binary = folder / "bin" / "planted";
  fs::copy_file(PLANTED_BINARY, binary);
  fs::copy_file(PLANTED_BINARY ".list.json", folder / "bin" / "planted.list.json");
  if (!plant.empty())
    std::ofstream(binary, std::ios::app | std::ios::binary) << "\nHOLDFAST_PLANT=" << plant;
  return binary;
}

// The base is accepted as four times as fast as it is, so that every measurement of any build is
// suspect on any machine. The comparison's result does depend on the machine: "undecided" is right
// if the units cannot tell.
class PlantedConfirm : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder = fresh_folder("planted_confirm");
    const fs::path base = build(folder / "base");
    gate = std::make_unique<Gate>(base, "host", folder,
                                  policy_without_rules(folder / "baselines" / "policy"));
    expect_well(gate->measure("HOLDFAST_PLANT=", "unplanted"));
    calm(folder / "unplanted", 4);
    expect_well(gate->accept("unplanted", folder / "base" / "bin"));
  }
  static void TearDownTestSuite() { gate.reset(); }

  // Measures the build in `name`.
  static void measure(const std::string& name) {
    const Gate measuring((folder / name / "bin" / "planted").string(), "host", folder,
                         folder / "baselines" / "policy");
    expect_well(measuring.measure("HOLDFAST_PLANT=", name + "_results"));
    change(folder / (name + "_results"), make_valid);
  }
  static Said confirm(const std::string& name, const fs::path& base) {
    return gate->check(name + "_results", "--lists=" + (folder / name / "bin").string() +
                                              " --confirm=" + base.string() + " --budget=10");
  }
  static std::string verdict(const std::string& name) {
    return read(folder / (name + "_results") / "verdict.json");
  }
  static inline fs::path folder = {};
  static inline std::unique_ptr<Gate> gate = {};
};

TEST_F(PlantedConfirm, ABuildThatTakesTwiceAsLongDoesNotPass) {
  build(folder / "slower", "slow:100");
  measure("slower");
  const Said said = confirm("slower", folder / "base");
  EXPECT_THAT(said.exit, AnyOf(1, 4)) << said.words;
  EXPECT_THAT(
      said.words,
      AllOf(ContainsRegex(said.exit == 1 ? "REGRESSION +planted/smooth/n:2001/f64 .*confirmed\\)"
                                         : "NOISY +planted/smooth/n:2001/f64 .*\\(blocking\\)"),
            ContainsRegex("speedup +fell from .*: A/B of [0-9]+ units?: "),
            ContainsRegex("screening +[A-Z]+ ")));
  EXPECT_THAT(verdict("slower"), AllOf(HasSubstr("\"A/B\""), HasSubstr("\"screening\"")));
}

TEST_F(PlantedConfirm, ABuildThatDoesTheSameWorkIsNoConfirmedRegression) {
  build(folder / "equal", "slow:0");
  measure("equal");
  const Said said = confirm("equal", folder / "base");
  EXPECT_THAT(said.exit, AnyOf(0, 4)) << said.words;
  EXPECT_THAT(said.words, ContainsRegex(looked_at));
  EXPECT_THAT(verdict("equal"), AllOf(HasSubstr("\"A/B\""), HasSubstr("\"screening\"")));
}

TEST_F(PlantedConfirm, AMeasurementOfTheAcceptedBuildIsTheMachines) {
  build(folder / "same");
  measure("same");
  const Said said = confirm("same", folder / "base");
  EXPECT_THAT(said.exit, AnyOf(0, 4)) << said.words;
  EXPECT_THAT(said.words, ContainsRegex(looked_at));
  if (said.exit == 4) return;
  EXPECT_THAT(said.words, AllOf(ContainsRegex("ENV +planted/smooth/n:2001/f64 "),
                                HasSubstr("accepted from this very content")));
}

TEST_F(PlantedConfirm, ABaseWithoutTheSuiteLeavesScreeningsWord) {
  build(folder / "alone");
  measure("alone");
  calm(folder / "alone_results");
  fs::create_directories(folder / "empty" / "bin");
  const Said said = confirm("alone", folder / "empty");
  EXPECT_EQ(said.exit, 1) << said.words;
  EXPECT_THAT(said.words, AllOf(HasSubstr("screening's REGRESSION stands"),
                                ContainsRegex("empty/bin has no suite planted")));
  const Said none = confirm("alone", folder / "none");
  EXPECT_EQ(none.exit, 2) << none.words;
  EXPECT_THAT(none.words, HasSubstr("none/bin; give the build folder to compare with"));
}

TEST_F(PlantedConfirm, WhatAnAbKeepsIsWhatItsSchemaSays) {
  const fs::path kept = folder / "ab.json";
  const std::string base = (folder / "base" / "bin" / "planted").string();
  const Said said = run(HOLDFAST_BINARY " ab " + base + ' ' + base +
                        " --budget=5 --unit=0.05 --out=" + kept.string());
  ASSERT_TRUE(fs::exists(kept)) << said.words;
  const nlohmann::json root = schema("ab.schema.json");
  const nlohmann::json found = nlohmann::json::parse(read(kept));
  validate(found, root, root, "ab");
  EXPECT_FALSE(found.at("cases").at(0).at("control").is_null());
}

}  // namespace
}  // namespace holdfast::planted
