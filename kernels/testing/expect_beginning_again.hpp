// SPDX-License-Identifier: Apache-2.0
// For tests: expects a computation whose steps are chained to begin again where it began.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "computation.hpp"

namespace holdfast {

inline void expect_beginning_again(Computation& computation) {
  computation.step();
  const std::vector<double> first = computation.result();
  computation.step();
  EXPECT_NE(computation.result(), first);
  computation.start_again(0);
  computation.step();
  EXPECT_EQ(computation.result(), first);
}

}  // namespace holdfast
