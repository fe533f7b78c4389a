// SPDX-License-Identifier: Apache-2.0
// What a metric is: its kind, its unit and which way is better.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "gate/base/json.hpp"

namespace holdfast::gate {

inline const std::vector<std::string_view> metric_kinds = {"exact", "codegen", "ratio",
                                                           "time",  "bound",   "advisory"};

enum class Better { lower, higher, same };

// Fixed wherever a suite measures it: the suite's table defines it, its list carries it, and a
// baseline keeps it as it was accepted.
struct Meaning {
  std::string kind;
  Better better = Better::lower;
  std::string unit = "1";
  bool operator==(const Meaning&) const = default;
};
using Meanings = std::map<std::string, Meaning>;  // by metric

// "exact, in B, lower is better"
std::string text_of(const Meaning& meaning);
// The unit in `metrics`, else the one that the metric's name tells.
std::string unit_of(const Meanings& metrics, const std::string& metric);

// The member `metrics` of lists and baselines.
Meanings parse_meanings(const Reader& reader);
nlohmann::json to_json(const Meaning& meaning);

}  // namespace holdfast::gate
