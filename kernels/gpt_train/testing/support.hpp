// SPDX-License-Identifier: Apache-2.0
// For tests: what the variants make of a problem, and what the oracle does.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "gpt_train/gpt_train.hpp"
#include "gpt_train/oracle/answers.hpp"

namespace holdfast::gpt_train {

inline std::vector<double> after(Variant variant, Unit unit, const Options& options,
                                 int steps = 1) {
  const auto backend = open_backend("host");
  const auto computation = make(unit, *backend, variant, options);
  for (int k = 0; k < steps; ++k) computation->step();
  return computation->result();
}

// The worst field's difference, by Frobenius norms.
inline double distance(Unit unit, const Options& options, const std::vector<double>& found,
                       const std::vector<double>& expected) {
  return oracle::distance(fields_of(unit, options), found, expected);
}

}  // namespace holdfast::gpt_train
