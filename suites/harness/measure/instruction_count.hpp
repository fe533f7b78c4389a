// SPDX-License-Identifier: Apache-2.0
// The inside of `holdfast run --count-instructions`: single steps of cases, taken under valgrind's
// callgrind, which counts what they execute.
//
// Of each variant it has callgrind write dumps of one step, two steps and then of single steps
// again, named "<case id>|<variant>|<number of the dump>". A step's count is what the further step
// of the two adds. That all single steps are alike tells that the state is steady and nothing is
// remembered.
#pragma once

#include <string>
#include <vector>

#include "harness/case/case.hpp"

namespace holdfast {

// False where a case went wrong, which is told on standard error; its dumps are then incomplete.
// Throws Error{bad_input} outside callgrind, and where other code than that of x86-64-v3 on one
// thread would be counted: counts are of that alone, so that they compare between machines.
bool count_instructions(const std::vector<const Case*>& cases, const std::string& device);

}  // namespace holdfast
