// SPDX-License-Identifier: Apache-2.0
#include "families/invariants.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "runtime/base/error.hpp"

namespace holdfast {

double larger(double most, double difference) {
  return std::isnan(difference) ? INFINITY : std::max(most, std::abs(difference));
}

namespace {

std::optional<std::string> other_size(const std::vector<double>& before,
                                      const std::vector<double>& after) {
  if (before.size() == after.size()) return std::nullopt;
  return text("the result had ", before.size(), " values and has ", after.size());
}

}  // namespace

Invariant repeats_itself() {
  return [](const std::vector<double>& before,
            const std::vector<double>& after) -> std::optional<std::string> {
    if (auto other = other_size(before, after)) return other;
    for (std::size_t i = 0; i < before.size(); ++i)
      if (std::bit_cast<std::uint64_t>(before[i]) != std::bit_cast<std::uint64_t>(after[i]))
        return text("value ", i, " of the result from unchanged inputs went from ", before[i],
                    " to ", after[i]);
    return std::nullopt;
  };
}

Invariant repeats_itself_within(double allowed) {
  return [=](const std::vector<double>& before,
             const std::vector<double>& after) -> std::optional<std::string> {
    if (auto other = other_size(before, after)) return other;
    double difference = 0, largest = 0;
    for (std::size_t i = 0; i < before.size(); ++i) {
      difference = larger(difference, before[i] - after[i]);
      largest = larger(largest, before[i]);
    }
    if (std::isfinite(difference) && difference <= allowed * largest) return std::nullopt;
    return text("the result from unchanged inputs moved by ", difference);
  };
}

}  // namespace holdfast
