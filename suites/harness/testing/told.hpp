// SPDX-License-Identifier: Apache-2.0
// For tests of a suite's command: the cases that it lists, its results, and what it refuses.
#pragma once

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "harness/testing/shell.hpp"

namespace holdfast {

// command: a suite's, with options.
inline nlohmann::json listed_cases(const std::string& command) {
  return nlohmann::json::parse(run(command + " --list=json").words).at("cases");
}

// The ids of these cases without the suite's name; `kind`: only those of a kind of device.
inline std::set<std::string> listed_ids(const std::string& command, const std::string& kind = "") {
  std::set<std::string> ids;
  for (const auto& one : listed_cases(command)) {
    const auto id = one.at("id").get<std::string>();
    if (kind.empty() || one.at("devices").contains(kind)) ids.insert(id.substr(id.find('/') + 1));
  }
  return ids;
}

// How many of a suite's cases every pull request waits for on a kind of device.
inline int gating_cases(const std::string& command, const std::string& kind) {
  int count = 0;
  for (const auto& one : listed_cases(command))
    count += one.at("tier") != "full" && one.at("devices").contains(kind);
  return count;
}

// The metric of the first case of a file of results.
inline double metric_of(const std::filesystem::path& results, const std::string& name,
                        const std::string& variant = "optimized") {
  const auto one = nlohmann::json::parse(read(results)).at("cases").at(0);
  return one.at("variants").at(variant).at("metrics").at(name).at("value").get<double>();
}

struct Nonsense {
  std::string options, sentence;
};
inline void expect_nonsense(const std::string& command, const std::vector<Nonsense>& rows) {
  for (const auto& [options, sentence] : rows) {
    const Said said = run(command + " " + options);
    EXPECT_EQ(said.exit, 2) << options;
    EXPECT_THAT(said.words, testing::HasSubstr(sentence));
  }
}

}  // namespace holdfast
