// SPDX-License-Identifier: Apache-2.0
// The cost of checking batches and of reporting chunks, in instructions, which do not depend on the
// machine's load: by the real command under valgrind.
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "harness/testing/shell.hpp"

namespace holdfast {
namespace {

bool has_valgrind() {
  return run("command -v valgrind").exit == 0;
}
constexpr const char* wanting = "there is no valgrind; cmake/bootstrap.sh installs it";

// The instructions of one step of each case that matches the expression, by the rest of its name
// after the suite's.
std::map<std::string, double> instructions(const std::string& cases) {
  const auto folder = fresh_folder("xpcs_instructions");
  const Said said =
      run(HOLDFAST_BINARY
          " run xpcs_fit --device=host --tier=full --processes=1 --count-instructions "
          "--filter='" +
          cases + "' --out=" + folder.string());
  EXPECT_EQ(said.exit, 0) << said.words;
  std::map<std::string, double> counted;
  for (const auto& file : std::filesystem::recursive_directory_iterator(folder)) {
    if (file.path().filename() != "xpcs_fit.json") continue;
    const auto results = nlohmann::json::parse(read(file.path()));
    for (const auto& one : results.at("cases"))
      counted[one.at("id").get<std::string>().substr(9)] = one.at("variants")
                                                               .at("optimized")
                                                               .at("metrics")
                                                               .at("instructions")
                                                               .at("value")
                                                               .get<double>();
  }
  return counted;
}

TEST(XpcsInstructions, OfFastAndFullStreamsAreThoseOfPlainOnes) {
  if (!has_valgrind()) GTEST_SKIP() << wanting;
  const auto counted = instructions("stream/overhead/.*size:t");
  ASSERT_EQ(counted.size(), 3u);
  const auto of = [&](const std::string& mode) {
    return counted.at("stream/overhead/mode:" + mode + "/size:t/f64");
  };
  EXPECT_GT(of("plain"), 1e6);
  EXPECT_LE(of("fast") / of("plain"), 1.01);
  EXPECT_LE(of("full") / of("plain"), 1.05);
  EXPECT_GT(of("full"), of("fast"));
}

TEST(XpcsInstructions, OfAFitThatTellsOfItsChunksAreThoseOfASilentOne) {
  if (!has_valgrind()) GTEST_SKIP() << wanting;
  const auto counted = instructions("progress/.*size:t");
  ASSERT_EQ(counted.size(), 2u);
  const double told = counted.at("progress/chunks:24/size:t/f64"),
               silent = counted.at("progress/silent/chunks:24/size:t/f64");
  EXPECT_GT(silent, 1e6);
  EXPECT_GT(told, silent);
  // It takes as much at size s, which has 900000 points instead of 9216.
  EXPECT_LE((told - silent) / (silent * 900000 / 9216), 0.005);
}

}  // namespace
}  // namespace holdfast
