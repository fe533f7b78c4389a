// SPDX-License-Identifier: Apache-2.0
// Regressions planted into a suite, and the real commands that must notice: on the host, where
// results and speedups are real.
#include "planted/gate.hpp"

namespace holdfast::planted {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

// The beginning of a sentence about the optimized variant.
const std::string regression = "REGRESSION +planted/smooth/n:2001/f64 +[a-z0-9_-]+ +optimized .*";

class PlantedHost : public Planted {
 protected:
  static void SetUpTestSuite() { accept_as_built(PLANTED_BINARY, "host", "planted_host"); }
};

std::filesystem::path only_part(const std::filesystem::path& results) {
  for (const auto& one : std::filesystem::recursive_directory_iterator(results))
    if (one.path().filename() == "planted.json") return one.path();
  throw std::runtime_error("nothing was measured into " + results.string());
}

// Simulates a machine of the same speed: the references take as long as in `before`.
void at_the_pace_of(const std::filesystem::path& before, const std::filesystem::path& results) {
  const nlohmann::json::json_pointer median("/metrics/time_s/median");
  const nlohmann::json::json_pointer processes("/metrics/time_s/processes");
  const std::filesystem::path file = only_part(results);
  const nlohmann::json earlier = nlohmann::json::parse(read(only_part(before)));
  nlohmann::json part = nlohmann::json::parse(read(file));
  for (std::size_t i = 0; i < part.at("cases").size(); ++i) {
    nlohmann::json& variants = part.at("cases")[i].at("variants");
    if (!variants.contains("reference") || !variants["reference"].contains(median)) continue;
    const double then = earlier.at("cases")[i].at("variants").at("reference").at(median);
    const double pace = then / variants["reference"].at(median).get<double>();
    for (nlohmann::json& variant : variants) {
      if (!variant.contains(median)) continue;
      variant[median] = pace * variant[median].get<double>();
      variant[processes] = std::vector(variant[processes].size(), variant[median].get<double>());
    }
  }
  std::ofstream(file) << part;
}

// Uses both sides' measurements, without the machine's variation from process to process, which
// does not explain a halved speedup.
TEST_F(PlantedHost, AKernelSlowedUntilItsSpeedupHalvesFailsTheBuild) {
  expect_well(gate->measure("HOLDFAST_PLANT=slow", "slow"));
  calm(gate->folder() / "slow");
  at_the_pace_of(gate->folder() / "unplanted", gate->folder() / "slow");
  const Said said = gate->check("slow");
  EXPECT_EQ(said.exit, 1) << said.words;
  EXPECT_THAT(said.words,
              ContainsRegex("REGRESSION +planted/smooth/n:2001/f64 .*speedup +fell from [0-9.]+ to "
                            "[0-9.]+ \\(-[45][0-9]"));
}

TEST_F(PlantedHost, AWrongCoefficientFailsTheBuild) {
  expect_found(
      "coefficient", 1,
      {"WRONG.*planted/smooth/n:2001/f64", "check_error +is 0\\.[0-9]+ and may be at most 1e-14"});
}

TEST_F(PlantedHost, AResultThatHoldsNoNumberIsWrongAndNotACrash) {
  const Said said = judge("nan", "--processes=1");
  EXPECT_EQ(said.exit, 1) << said.words;
  EXPECT_THAT(said.words, ContainsRegex("WRONG.*planted/smooth/n:2001/f64"));
  EXPECT_THAT(said.words, Not(HasSubstr("crashed")));
}

struct SkippedWork {
  const char *plant, *family;
};
class PlantedSkip : public PlantedHost, public testing::WithParamInterface<SkippedWork> {};

TEST_P(PlantedSkip, OfWorkIsWrongOnceItIsVerifiedAgain) {
  expect_said(judge(GetParam().plant, "--processes=1 --tier=full"), 1,
              {std::string("WRONG +planted/") + GetParam().family + "/n:2001/f64",
               "verified again after the timed section"});
}

INSTANTIATE_TEST_SUITE_P(Each, PlantedSkip,
                         testing::Values(SkippedWork{"skips", "smooth"},
                                         SkippedWork{"idles", "once"},
                                         SkippedWork{"remembers", "once"}),
                         [](const auto& one) { return std::string(one.param.plant); });

TEST_F(PlantedHost, OneMoreAllocationFailsTheBuild) {
  expect_found("allocation", 1, {regression + "peak_bytes +rose from 32.02 kB to 48.02 kB"});
}

}  // namespace
}  // namespace holdfast::planted
