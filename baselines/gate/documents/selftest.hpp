// SPDX-License-Identifier: Apache-2.0
// How often `holdfast ab --selftest` found a build different from itself. It stands beside the
// results of that build, <results>/<device class>/<suite>.selftest.json, and enters the history
// with them.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "gate/base/json.hpp"

namespace holdfast::gate {

inline constexpr std::string_view self_test_ending = ".selftest.json";

// The file in the folder of a device class.
std::filesystem::path self_test_path(const std::filesystem::path& folder, const std::string& suite);

struct SelfTest {
  struct Decision {
    std::string case_id;
    std::string verdict;
  };
  struct Rate {  // of alarms, with the exact 95 % interval of their chance
    double value = 0, lower = 0, upper = 1;
  };
  std::string suite;
  std::string device;    // as given to --device
  std::string content;   // of the build
  std::string utc = {};  // when it ended
  double tolerance = 0;
  std::vector<Decision> decisions = {};
  Rate alarm_rate = {};

  std::size_t alarms() const;     // each of them false
  std::size_t undecided() const;  // neither alarms nor passes
};

SelfTest parse_self_test(const Document& document);
SelfTest read_self_test(const std::filesystem::path& path);
nlohmann::json to_json(const SelfTest& test);

}  // namespace holdfast::gate
