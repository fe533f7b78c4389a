// SPDX-License-Identifier: Apache-2.0
// For tests: expects compiled kernels to keep their numbers in registers.
#pragma once

#include <gtest/gtest.h>

#include "runtime/compile/compiler.hpp"

namespace holdfast {

inline void expect_no_spills(const Compiler& compiler, int most_registers = 255) {
  EXPECT_FALSE(compiler.programs().empty()) << "nothing was compiled";
  for (const auto& program : compiler.programs())
    for (const Function& function : program->functions) {
      EXPECT_EQ(function.spill_bytes, 0) << function.expression;
      EXPECT_LE(function.registers, most_registers) << function.expression;
    }
}

}  // namespace holdfast
