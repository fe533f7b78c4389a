// SPDX-License-Identifier: Apache-2.0
// A profile document is accepted as a whole or not at all.
#include "gate/documents/profile.hpp"

#include <gmock/gmock.h>

#include "gate/testing/test_profile.hpp"

namespace holdfast::gate {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;
using toy::json;

void expect_refusal(const std::string& content, const std::string& words) {
  EXPECT_THAT([&] { (void)parse_profile(Document("p.json", content)); },
              ThrowsMessage<Error>(AllOf(HasSubstr("p.json:"), HasSubstr(words))));
}

TEST(ProfileDocument, KeepsWhatWasWritten) {
  const Profile profile = toy::parsed(toy::gpu_profile());
  EXPECT_EQ(profile.case_id, toy::step_id);
  EXPECT_EQ(profile.clock, "cupti");
  EXPECT_EQ(profile.overview.launches, 12);
  EXPECT_EQ(profile.overview.max_gap_between, (std::vector<std::string>{"stage", "edge"}));
  ASSERT_EQ(profile.ops.size(), 3u);
  EXPECT_EQ(profile.ops[0].grid, (std::vector<std::int64_t>{264, 1, 1}));
  EXPECT_EQ(profile.scopes[1].path, "step/rhs");
  EXPECT_EQ(profile.memory.peak_by_site.at("state"), 681984);
  EXPECT_EQ(profile.compiles[0].reason, "first use");
  EXPECT_EQ(profile.floor_s, 2e-4);
}

TEST(ProfileDocument, KeepsTheFloorOfKernelsWhichAnOlderOneLacks) {
  json newer = toy::gpu_profile();
  newer["kernels_floor_s"] = 1e-4;
  EXPECT_EQ(toy::parsed(newer).kernels_floor_s, 1e-4);
  EXPECT_FALSE(toy::parsed(toy::gpu_profile()).kernels_floor_s);
}

TEST(ProfileDocument, HasNoTimesWhereNothingWasExecuted) {
  const Profile profile = toy::parsed(toy::dry_profile());
  EXPECT_FALSE(profile.overview.mean_step_s);
  EXPECT_FALSE(profile.ops[0].total_s);
  EXPECT_EQ(profile.ops[0].count, 40);
}

TEST(ProfileDocument, RefusesEveryKeyThatIsAbsent) {
  const json whole = toy::gpu_profile();
  for (const auto& [key, value] : whole.items()) {
    json spoilt = whole;
    spoilt.erase(key);
    EXPECT_THROW((void)parse_profile(Document("p.json", spoilt.dump(1))), Error) << key;
  }
}

TEST(ProfileDocument, RefusesAnUnknownKeyAnywhere) {
  const json whole = toy::gpu_profile();
  for (const char* place :
       {"", "/overview", "/ops/0", "/scopes/0", "/transfers", "/transfers/h2d", "/gaps/0",
        "/memory", "/memory/timeline/0", "/compiles/0", "/windows/0", "/work"}) {
    json spoilt = whole;
    spoilt[json::json_pointer(place)]["surprise"] = 1;
    expect_refusal(spoilt.dump(1), "unknown key 'surprise'");
  }
}

TEST(ProfileDocument, RefusesWrongTypesAndImpossibleNumbers) {
  const std::pair<const char*, json> wrongs[] = {{"/steps", 0},
                                                 {"/steps", "ten"},
                                                 {"/variant", "best"},
                                                 {"/clock", "sundial"},
                                                 {"/executed", 1},
                                                 {"/dropped", -1},
                                                 {"/overview/launches", nullptr},
                                                 {"/overview/busy_fraction", 1.5},
                                                 {"/overview/max_gap_between", {"stage"}},
                                                 {"/ops/0/kind", "magic"},
                                                 {"/ops/0/grid", {1, 2}},
                                                 {"/ops/0/count", -4},
                                                 {"/scopes/0/total_s", nullptr},
                                                 {"/memory/peak_bytes", 1.5},
                                                 {"/memory/peak_by_site", json::array()},
                                                 {"/compiles/0/steady", "yes"},
                                                 {"/work/bytes", -1},
                                                 {"/floor_s", "fast"},
                                                 {"/device_counts", {{"kernels", 1}}}};
  for (const auto& [place, value] : wrongs) {
    json spoilt = toy::gpu_profile();
    spoilt[json::json_pointer(place)] = value;
    EXPECT_THROW((void)parse_profile(Document("p.json", spoilt.dump(1))), Error) << place;
  }
}

TEST(ProfileDocument, RefusesNanAndAnotherVersion) {
  std::string content = toy::gpu_profile().dump(1);
  const std::size_t at = content.find("0.000605");
  ASSERT_NE(at, std::string::npos);
  expect_refusal(std::string(content).replace(at, 8, "NaN"), "not JSON");
  json other = toy::gpu_profile();
  other["schema"] = "holdfast-profile/2";
  expect_refusal(other.dump(1), "the schema is 'holdfast-profile/2'");
}

TEST(ProfileDocument, IsRefusedWhereverItIsCut) {
  const std::string whole = toy::gpu_profile().dump(1);
  for (std::size_t part = 0; part < 64; ++part)
    EXPECT_THROW((void)parse_profile(Document("p.json", whole.substr(0, whole.size() * part / 64))),
                 Error)
        << "cut at " << part << "/64";
}

TEST(ProfileDocument, TakesItsNameFromTheCase) {
  EXPECT_EQ(slug("toy/step/n:64/f64"), "toy.step.n_64.f64");
}

}  // namespace
}  // namespace holdfast::gate
