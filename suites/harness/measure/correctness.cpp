// SPDX-License-Identifier: Apache-2.0
#include "harness/measure/correctness.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "runtime/base/error.hpp"

namespace holdfast {

double as_error(double measured, std::string_view oracle) {
  if (measured < 0)
    throw Error(Fault::broken_rule,
                text("its oracle (", oracle, ") measures an error of ", measured,
                     ": a result on that side would always pass; an error is "
                     "0 or more"));
  return std::isfinite(measured) ? measured : std::numeric_limits<double>::infinity();
}

double golden_error(const Steps& steps, Variant variant, const std::string& device) {
  if (!steps.oracle.golden) return 0;
  const auto backend = open_backend(device);
  return as_error(steps.oracle.golden(*backend, variant), steps.oracle.name);
}

std::optional<std::string> wrong(const Steps& steps, Variant variant, double error) {
  if (error <= steps.oracle.limit) return std::nullopt;
  if (!std::isfinite(error))
    return text("the ", variant_name(variant), " variant's result after ", steps.warm_up,
                " steps is none: it is of another length, was never written, or holds what is no "
                "number (oracle: ",
                steps.oracle.name, ")");
  return text("the ", variant_name(variant), " variant is wrong by ", error, " after ",
              steps.warm_up, " steps, the limit is ", steps.oracle.limit,
              " (oracle: ", steps.oracle.name, ")");
}

double relative_error(const std::vector<double>& result, const std::vector<double>& expected,
                      const std::vector<std::size_t>& parts) {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  const auto lengths = parts.empty() ? std::vector{expected.size()} : parts;
  if (expected.empty() || result.size() != expected.size() ||
      std::accumulate(lengths.begin(), lengths.end(), std::size_t{0}) != expected.size())
    return infinite;
  double worst = 0;
  std::size_t begin = 0;
  for (const std::size_t length : lengths) {
    double difference = 0, magnitude = 0;
    for (std::size_t i = begin; i < begin + length; ++i) {
      // A non-finite expected value would check nothing.
      if (!std::isfinite(result[i]) || !std::isfinite(expected[i])) return infinite;
      difference = std::max(difference, std::abs(result[i] - expected[i]));
      magnitude = std::max(magnitude, std::abs(expected[i]));
    }
    if (difference > 0) worst = std::max(worst, magnitude > 0 ? difference / magnitude : infinite);
    begin += length;
  }
  return worst;
}

double error_of(const Oracle& oracle, const std::vector<double>& result,
                const std::vector<double>& expected) {
  if (result.empty()) return std::numeric_limits<double>::infinity();
  if (!oracle.distance) return relative_error(result, expected, oracle.parts);
  return as_error(oracle.distance(result, expected), oracle.name);
}

}  // namespace holdfast
