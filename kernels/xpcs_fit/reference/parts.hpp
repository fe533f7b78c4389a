// SPDX-License-Identifier: Apache-2.0
// What the plain formulation needs on hosts and devices alike.
#pragma once

#include <cstdint>
#include <memory>

#include "xpcs_fit/problem/problem.hpp"

namespace holdfast::xpcs_fit {

// Points [first, first + count) of the flat order.
struct PointRange {
  std::int64_t first = 0, count = 0;
};

inline std::size_t count_if(bool wanted, std::int64_t count) {
  return wanted ? static_cast<std::size_t>(count) : 0;
}

// The first angle as a problem of its own.
inline Problem of_one_angle(const Problem& problem) {
  auto input = std::make_shared<Input>(*problem.input);
  input->size.angles = 1;
  input->angles.resize(1);
  input->data.resize(static_cast<std::size_t>(input->size.plane()));
  return {input, problem.options};
}

}  // namespace holdfast::xpcs_fit
