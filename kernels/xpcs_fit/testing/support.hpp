// SPDX-License-Identifier: Apache-2.0
// For tests: a problem of a size, in a form.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "testing/differences.hpp"
#include "xpcs_fit/data/data.hpp"
#include "xpcs_fit/problem/problem.hpp"
#include "xpcs_fit/problem/starts.hpp"
#include "xpcs_fit/xpcs_fit.hpp"

namespace holdfast::xpcs_fit {

inline Problem problem(Size size, Options options, Physics physics, double noise = 0.01) {
  return {make_input({.size = size,
                      .physics = physics,
                      .noise = noise,
                      .weighted = options.weights == Weights::array},
                     options),
          options};
}
inline Problem problem(Size size, Options options, double noise = 0.01) {
  return problem(size, options, default_physics(size), noise);
}

// Each of so many points moved by an amount of its own, so that who leaves one out, or reads
// another in its place, comes to another cost.
inline Problem with_moved_points(const Problem& one, int count, unsigned seed) {
  auto input = std::make_shared<Input>(*one.input);
  std::minstd_rand places(seed);
  for (int k = 0; k < count; ++k) input->data[places() % input->data.size()] += 1 + 0.1 * k;
  return {input, one.options};
}

// Once it begins again from another start, as who is built with that; and then as it began.
inline void expect_turns(Unit unit, Backend& backend, Variant variant, const Problem& one) {
  auto input = std::make_shared<Input>(*one.input);
  input->box.start = start_of(one, 1);
  const auto computed = [](Computation& computation) {
    computation.step();
    return computation.result();
  };
  const auto first = computed(*make(unit, backend, variant, one)),
             second = computed(*make(unit, backend, variant, {input, one.options}));
  EXPECT_NE(first, second);
  const auto computation = make(unit, backend, variant, one);
  for (const auto& [number, expected] : {std::pair{1, second}, {0, first}}) {
    computation->start_again(number);
    // Threads of the reference add their parts up as they come.
    EXPECT_LE(largest_difference(computed(*computation), expected),
              1e-13 * largest_difference(expected, std::vector<double>(expected.size())))
        << number;
  }
}

}  // namespace holdfast::xpcs_fit
