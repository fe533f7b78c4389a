// SPDX-License-Identifier: Apache-2.0
// The process behind `holdfast run --count-instructions`: single steps of cases under valgrind's
// callgrind, which counts their instructions, and their misses in caches that it simulates.
//
// For each variant callgrind writes dumps of no step and of single ones in a row, named
// "<case id>|<variant>|<number>", where 0 is that of no step. A step's count is that of the second
// minus what is counted without one. Equal single steps show that the state is steady and nothing
// is remembered.
#pragma once

#include <string>
#include <vector>

#include "harness/case/case.hpp"

namespace holdfast {

// False if a case went wrong, which is reported on standard error; its dumps are then incomplete.
// Throws Error{bad_input} outside callgrind, and unless x86-64-v3 code on one thread would be
// counted, as only those counts compare between machines.
bool count_instructions(const std::vector<const Case*>& cases, const std::string& device);

}  // namespace holdfast
