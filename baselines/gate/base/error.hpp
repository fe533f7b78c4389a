// SPDX-License-Identifier: Apache-2.0
// Why a command failed, and the exit code that every command of holdfast gives for it.
#pragma once

#include "base/error.hpp"

namespace holdfast::gate {

enum class Fault {
  regression,  // a blocking regression, a wrong result, an impossible speed
  bad_input,   // usage, an unreadable file, a schema that is not obeyed
  incomplete,  // something expected is missing, timed out or crashed
  undecided,   // the measurement cannot tell
  no_device,   // the machine has no such device
};

// The exit codes, in the order above: 1, 2, 3, 4, 77.
int exit_code(Fault fault);

// The exit code of a whole whose parts ended in `a` and `b`: 2 before 3 before 1 before 4 before 77
// before 0.
int worse_exit_code(int a, int b);

using Error = ErrorOf<Fault>;

// What std::bad_alloc is told as; its fault is `incomplete`.
inline constexpr const char* no_memory =
    "there is no memory left for this process; see `ulimit -v`, and what else runs here";

}  // namespace holdfast::gate
