// SPDX-License-Identifier: Apache-2.0
// Numbers as sentences show them, and the median of several.
#pragma once

#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include "base/names.hpp"  // unit_of_name, for callers that show a number

namespace holdfast::gate {

// A number, a hash (identity), or a table of kernels.
using Value = std::variant<double, std::string>;

// 412 us, 1.178 MB, 19 GB/s, 2 programs, 18.05, sha256:1a2b3c4d.
std::string readable(const Value& value, const std::string& unit);
// Both as above, in as many digits as show that they differ: 1.177856 MB, 1.177864 MB. For two
// tables, the first row that differs.
std::pair<std::string, std::string> told_apart(const Value& before, const Value& now,
                                               const std::string& unit);
// "+8.5 %"
std::string percent(double fraction);

// The number that `word` is as a whole.
template <class Number>
std::optional<Number> number_of(std::string_view word) {
  Number number = {};
  const auto [stop, problem] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (problem != std::errc() || stop != word.data() + word.size()) return std::nullopt;
  return number;
}

// The middle of `values`, or the mean of the two middle ones; `values` must not be empty.
double median(std::vector<double> values);

// The median distance from the median, unscaled: 0 for one value.
double median_absolute_deviation(const std::vector<double>& values);

}  // namespace holdfast::gate
