// SPDX-License-Identifier: Apache-2.0
// What works for this process: all of it but what keeps CPUs awake (kept_awake.hpp).
#pragma once

#include <sys/types.h>

#include <vector>

namespace holdfast {

std::vector<pid_t> working_threads();

// That they computed so far, together. What other threads than the calling one are in the middle of
// the kernel counts at its ticks and when they stop.
double working_cpu_seconds();

}  // namespace holdfast
