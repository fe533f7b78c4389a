// SPDX-License-Identifier: Apache-2.0
// One side of a paired comparison of two builds: a process that holds one case ready and times it a
// sample at a time, when it is told to, so that whatever the machine does happens to both builds.
//
// It says "ready <steps of a sample>" once the case is warm, then answers each line it reads:
//   batch N      a sample of the optimized variant has N steps from here on: "ok"
//   optimized    a sample of the optimized variant: "<seconds per step> <CPU seconds per step>
//                <seconds per step for which its threads waited for a CPU, together>
//                <1 where the device was disturbed meanwhile, else 0>"
//   reference    the same of the reference; "none" where the case has none
// and ends with its input. Each thread of a sample has CPUs of its own. On a GPU the first two are
// the device's, and nobody waits.
#pragma once

#include <functional>
#include <istream>
#include <ostream>
#include <string>

#include "harness/case/case.hpp"

namespace holdfast {

// Throws Error{broken_rule} for a result that is wrong, Error{bad_input} for a case that is not one
// repeated step, a device that executes nothing, and a line that means nothing. `disturbed` is
// asked behind each sample whether the device was slowed down or shared; none: nobody knows.
void serve_lock_step(const Case& one, const std::string& device, std::istream& in,
                     std::ostream& out, const std::function<bool()>& disturbed = {});

}  // namespace holdfast
