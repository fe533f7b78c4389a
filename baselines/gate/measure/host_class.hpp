// SPDX-License-Identifier: Apache-2.0
// What the suites call this machine's CPU.
#pragma once

#include <string>

namespace holdfast::gate {

// The instruction set that host code is chosen for: x86-64-v4, x86-64-v3, or x86-64-v2 and below,
// which no host code is compiled for.
std::string host_isa();

// How many threads the suites run with: HOLDFAST_NUM_THREADS, else Slurm's count, else 2 (1 where
// there is but one).
int host_threads();

// "host-x86_64-v4-2t": the name of the folder of baselines.
std::string host_class();

// "AuthenticAMD-26-2": whose times and ratios its runs are held against; "unknown" where the kernel
// does not tell it.
std::string host_processor();

}  // namespace holdfast::gate
