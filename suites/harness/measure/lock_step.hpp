// SPDX-License-Identifier: Apache-2.0
// One side of a paired comparison of two builds: a process that holds one case ready and times it a
// sample at a time, when it is told to, so that whatever the machine does happens to both builds.
//
// It says "ready <steps of a sample>" once the case is warm, then answers each line it reads:
//   batch N      a sample of the optimized variant has N steps from here on: "ok"
//   optimized    a sample of the optimized variant: "<seconds per step> <CPU seconds per step>"
//   reference    the same of the reference; "none" where the case has none
// and ends with its input. On a GPU both numbers are the device's.
#pragma once

#include <istream>
#include <ostream>
#include <string>

#include "harness/case/case.hpp"

namespace holdfast {

// Throws Error{broken_rule} for a result that is wrong, Error{bad_input} for a case that is not one
// repeated step, a device that executes nothing, and a line that means nothing.
void serve_lock_step(const Case& one, const std::string& device, std::istream& in,
                     std::ostream& out);

}  // namespace holdfast
