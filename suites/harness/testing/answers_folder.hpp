// SPDX-License-Identifier: Apache-2.0
// A folder in which the processes of one run share their oracles' answers, while it lives.
#pragma once

#include <gtest/gtest.h>

#include "base/files.hpp"
#include "base/testing/variable.hpp"

namespace holdfast {

struct AnswersFolder : NewFolder {
  AnswersFolder() : NewFolder(testing::TempDir() + "answers-") {}

 private:
  const Variable answers_{"HOLDFAST_ANSWERS", path()};
};

}  // namespace holdfast
