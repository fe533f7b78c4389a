// SPDX-License-Identifier: Apache-2.0
// What looking at batches costs, in instructions, which no busy machine changes: by the real
// command under valgrind.
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "harness/testing/shell.hpp"

namespace holdfast {
namespace {

TEST(XpcsInstructions, OfFastAndFullStreamsAreThoseOfPlainOnes) {
  if (run("command -v valgrind").exit != 0)
    GTEST_SKIP() << "there is no valgrind; cmake/bootstrap.sh installs it";
  const auto folder = fresh_folder("xpcs_instructions");
  const Said said =
      run(HOLDFAST_BINARY
          " run xpcs_fit --device=host --tier=full --processes=1 --count-instructions "
          "--filter='stream/overhead/.*size:t' --out=" +
          folder.string());
  ASSERT_EQ(said.exit, 0) << said.words;
  std::map<std::string, double> counted;
  for (const auto& file : std::filesystem::recursive_directory_iterator(folder)) {
    if (file.path().filename() != "xpcs_fit.json") continue;
    const auto results = nlohmann::json::parse(read(file.path()));
    for (const auto& one : results.at("cases"))
      counted[one.at("id")] = one.at("variants")
                                  .at("optimized")
                                  .at("metrics")
                                  .at("instructions")
                                  .at("value")
                                  .get<double>();
  }
  ASSERT_EQ(counted.size(), 3u);
  const auto of = [&](const std::string& mode) {
    return counted.at("xpcs_fit/stream/overhead/mode:" + mode + "/size:t/f64");
  };
  EXPECT_GT(of("plain"), 1e6);
  EXPECT_LE(of("fast") / of("plain"), 1.01);
  EXPECT_LE(of("full") / of("plain"), 1.05);
  EXPECT_GT(of("full"), of("fast"));
}

}  // namespace
}  // namespace holdfast
