// SPDX-License-Identifier: Apache-2.0
// For tests of tests: the failures of a body with a planted fault.
#pragma once

#include <gtest/gtest-spi.h>

#include <string>

namespace holdfast {

// The messages of all failed expectations in the action, which then do not fail the surrounding
// test.
template <class Action>
std::string failures_of(const Action& action) {
  testing::TestPartResultArray results;
  {
    const testing::ScopedFakeTestPartResultReporter reporter(
        testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &results);
    action();
  }
  std::string all;
  for (int i = 0; i < results.size(); ++i)
    if (results.GetTestPartResult(i).failed())
      all += std::string(results.GetTestPartResult(i).message()) + '\n';
  return all;
}

}  // namespace holdfast
