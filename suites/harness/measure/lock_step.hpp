// SPDX-License-Identifier: Apache-2.0
// One side of a paired comparison of two builds: a process that holds one case ready and times it a
// sample at a time on request, so that disturbances of the machine affect both builds.
//
// It prints "ready <steps of a sample>" once the case is warm, then answers each line it reads:
//   batch N      a sample of the optimized variant has N steps from here on: "ok"
//   optimized    a sample of the optimized variant: "<seconds per step> <CPU seconds per step>
//                <seconds per step for which its threads waited for a CPU, together>
//                <1 if the device was disturbed meanwhile, else 0>"
//   reference    the same for the reference; "none" if the case has none
// and ends at the end of its input. Each thread of a sample has its own CPUs. On a GPU the first
// two numbers are the device's, and the third is 0.
#pragma once

#include <functional>
#include <istream>
#include <ostream>
#include <string>

#include "harness/case/case.hpp"

namespace holdfast {

// Throws Error{broken_rule} for a wrong result, Error{bad_input} for a case that is not one
// repeated step, a device that executes nothing, and an invalid line. `disturbed` is asked after
// each sample whether the device was slowed down or shared; null if unknown.
void serve_lock_step(const Case& one, const std::string& device, std::istream& in,
                     std::ostream& out, const std::function<bool()>& disturbed = {});

}  // namespace holdfast
