// SPDX-License-Identifier: Apache-2.0
// For tests: a real suite as a user types it, and a private folder.
#pragma once

#include <gmock/gmock.h>

#include <source_location>

#include "harness/testing/shell.hpp"

namespace holdfast {

class SuiteInAShell : public testing::Test {
 protected:
  static Said suite(const std::string& options) {
    return run(CUBED_SPHERE_SWE_BINARY " " + options);
  }
  // Expects the exit code for wrong usage, and one sentence with these words in it.
  static void expect_usage(const Said& said, const std::string& words = "",
                           std::source_location where = std::source_location::current()) {
    const testing::ScopedTrace trace(where.file_name(), static_cast<int>(where.line()), "here");
    EXPECT_EQ(said.exit, 2);
    EXPECT_TRUE(one_sentence(said, "cubed_sphere_swe")) << said.words;
    EXPECT_THAT(said.words, testing::HasSubstr(words));
  }

  std::filesystem::path folder =
      fresh_folder(std::string("suite_") +
                   testing::UnitTest::GetInstance()->current_test_info()->test_suite_name() + "_" +
                   testing::UnitTest::GetInstance()->current_test_info()->name());
};

}  // namespace holdfast
