// SPDX-License-Identifier: Apache-2.0
// For tests: a part of a tendency whose inputs take turns.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "computation.hpp"

namespace holdfast::cubed_sphere_swe {

// Begins again with twice its inputs, of which the result is twice as large, and then as it began.
inline void expect_turns(Computation& part) {
  part.step();
  const std::vector<double> once = part.result();
  std::vector<double> twice = once;
  for (double& value : twice) value *= 2;
  for (const int input : {1, 0}) {
    part.start_again(input);
    part.step();
    EXPECT_EQ(part.result(), input == 1 ? twice : once) << input;
  }
}

}  // namespace holdfast::cubed_sphere_swe
