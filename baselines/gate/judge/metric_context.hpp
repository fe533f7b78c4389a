// SPDX-License-Identifier: Apache-2.0
// What the steps that judge one metric share; for judge/ alone.
#pragma once

#include "gate/documents/measured.hpp"
#include "gate/judge/metric.hpp"

namespace holdfast::gate {

struct MetricJudge::Context {
  const CaseResult& result;
  const NamedMetric& metric;
  const std::vector<NamedMetric>& all;
  const Standard& standard;
  const Measured& measured;
  std::string key;
  bool timed() const { return standard.timed(); }
};

// A number that has a logarithm.
inline std::optional<double> positive(const Value& value) {
  const auto* number = std::get_if<double>(&value);
  return number && *number > 0 ? std::optional(*number) : std::nullopt;
}

}  // namespace holdfast::gate
