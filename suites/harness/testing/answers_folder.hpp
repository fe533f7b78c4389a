// SPDX-License-Identifier: Apache-2.0
// A folder in which the processes of one run share their oracles' answers, while it lives.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace holdfast {

class AnswersFolder {
 public:
  AnswersFolder() {
    std::filesystem::create_directories(path_);
    ::setenv("HOLDFAST_ANSWERS", path_.c_str(), 1);
  }
  AnswersFolder(const AnswersFolder&) = delete;
  AnswersFolder& operator=(const AnswersFolder&) = delete;
  ~AnswersFolder() {
    ::unsetenv("HOLDFAST_ANSWERS");
    std::filesystem::remove_all(path_);
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_ =
      std::filesystem::path(testing::TempDir()) /
      ("answers-" + std::to_string(testing::UnitTest::GetInstance()->random_seed()) +
       testing::UnitTest::GetInstance()->current_test_info()->name());
};

}  // namespace holdfast
