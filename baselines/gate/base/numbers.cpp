// SPDX-License-Identifier: Apache-2.0
#include "gate/base/numbers.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace holdfast::gate {
namespace {

std::string printed(const char* format, double value) {
  std::array<char, 64> buffer = {};
  (void)std::snprintf(buffer.data(), buffer.size(), format, value);
  return buffer.data();
}

std::string seconds(double value) {
  const double size = std::abs(value);
  if (size >= 1 || size == 0) return printed("%.4g s", value);
  if (size >= 1e-3) return printed("%.4g ms", value * 1e3);
  if (size >= 1e-6) return printed("%.4g us", value * 1e6);
  return printed("%.4g ns", value * 1e9);
}

}  // namespace

std::string percent(double fraction) {
  return printed("%+.3g %%", 100 * fraction);
}

std::string unit_of_name(const std::string& metric) {
  if (metric.ends_with("_per_s")) return "";
  if (metric.ends_with("_s")) return "s";
  return metric.ends_with("_bytes") || metric.find("_bytes_") != std::string::npos ? "B" : "";
}

std::string readable(const Value& value, const std::string& unit) {
  if (const auto* hash = std::get_if<std::string>(&value)) return hash->substr(0, 15);
  const double number = std::get<double>(value);
  if (unit == "s") return seconds(number);
  const bool whole = std::abs(number) < 1e15 && number == std::floor(number);
  const std::string digits = printed(whole ? "%.0f" : "%.4g", number);
  return unit == "B" ? digits + " B" : digits;
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return 0.5 * (*middle + *std::max_element(values.begin(), middle));
}

double median_absolute_deviation(const std::vector<double>& values) {
  const double center = median(values);
  std::vector<double> distances;
  for (const double value : values) distances.push_back(std::abs(value - center));
  return median(std::move(distances));
}

}  // namespace holdfast::gate
