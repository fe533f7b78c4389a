// SPDX-License-Identifier: Apache-2.0
// The work of this process, without the threads that keep CPUs awake (kept_awake.hpp).
#pragma once

#include <sys/types.h>

#include <vector>

namespace holdfast {

std::vector<pid_t> working_threads();

// CPU seconds of those threads so far. For threads other than the calling one, the kernel adds the
// current slice at its ticks and when they stop.
double working_cpu_seconds();

}  // namespace holdfast
