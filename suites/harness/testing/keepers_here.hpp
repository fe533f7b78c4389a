// SPDX-License-Identifier: Apache-2.0
// A machine on which CPUs can be kept awake.
#pragma once

#include <gtest/gtest.h>

#include <system_error>

#include "harness/machine/kept_awake.hpp"

namespace holdfast {

struct KeepersHere : ::testing::Test {
  void SetUp() override {
    try {
      const Keepers keepers({0});
    } catch (const std::system_error& refusal) {
      GTEST_SKIP() << "this machine lets no thread leave the lowest class: " << refusal.what();
    }
  }
};

}  // namespace holdfast
