// SPDX-License-Identifier: Apache-2.0
// For tests: how a command ended, and what it printed.
#pragma once

#include <gmock/gmock.h>

#include <source_location>
#include <string>

#include "gate/base/process.hpp"

namespace holdfast::gate {

// Expects the exit code, and `words` on the standard output.
template <class Words>
void expect_output(const Outcome& outcome, int code, const Words& words,
                   std::source_location where = std::source_location::current()) {
  const testing::ScopedTrace trace(where.file_name(), static_cast<int>(where.line()), "here");
  EXPECT_EQ(outcome.code, code) << outcome.output << outcome.complaints;
  EXPECT_THAT(outcome.output, words);
}

// The same on the standard error.
template <class Words>
void expect_complaint(const Outcome& outcome, int code, const Words& words,
                      std::source_location where = std::source_location::current()) {
  const testing::ScopedTrace trace(where.file_name(), static_cast<int>(where.line()), "here");
  EXPECT_EQ(outcome.code, code) << outcome.output << outcome.complaints;
  EXPECT_THAT(outcome.complaints, words);
}

}  // namespace holdfast::gate
