// SPDX-License-Identifier: Apache-2.0
// For tests: how much of single-precision kernels computes in double.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>

#include "runtime/compile/compiler.hpp"
#include "runtime/compile/machine_code.hpp"

namespace holdfast {

// At most so many instructions of these kernels of compiled programs, by name as in the program.
inline void expect_f64_instructions(const Compiler& compiler,
                                    const std::map<std::string, std::int64_t>& most) {
  if (pinned_disassembler().path.empty()) GTEST_SKIP() << pinned_disassembler().why_uncounted();
  std::map<std::string, std::int64_t> found;
  for (const auto& program : compiler.programs()) {
    const auto code = machine_code(program->cubin, program->cubin_hash);
    ASSERT_TRUE(code.has_value()) << program->source_name;
    for (const Function& function : program->functions)
      if (most.contains(function.expression))
        found[function.expression] = count(code->at(function.name), "f64");
  }
  for (const auto& [kernel, allowed] : most) {
    ASSERT_TRUE(found.contains(kernel)) << kernel << " was not compiled";
    EXPECT_LE(found.at(kernel), allowed)
        << kernel << ": an operand in double precision promotes what it meets";
  }
}

}  // namespace holdfast
