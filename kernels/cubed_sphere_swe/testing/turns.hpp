// SPDX-License-Identifier: Apache-2.0
// For tests: a part of a tendency whose inputs alternate.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "computation.hpp"
#include "testing/results.hpp"

namespace holdfast::cubed_sphere_swe {

// Restarts with twice its inputs, which must double the result, and then with the original ones.
inline void expect_turns(Computation& part) {
  const std::vector<double> once = result_of(part);
  std::vector<double> twice = once;
  for (double& value : twice) value *= 2;
  for (const int input : {1, 0}) {
    part.start_again(input);
    EXPECT_EQ(result_of(part), input == 1 ? twice : once) << input;
  }
}

}  // namespace holdfast::cubed_sphere_swe
