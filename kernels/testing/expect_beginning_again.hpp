// SPDX-License-Identifier: Apache-2.0
// For tests: expects a computation whose steps are chained to begin again where it began.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "computation.hpp"
#include "testing/results.hpp"

namespace holdfast {

inline void expect_beginning_again(Computation& computation) {
  const std::vector<double> first = result_of(computation);
  EXPECT_NE(result_of(computation), first);
  computation.start_again(0);
  EXPECT_EQ(result_of(computation), first);
}

}  // namespace holdfast
