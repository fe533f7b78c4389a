// SPDX-License-Identifier: Apache-2.0
// What the host side of a process may use, and how much work is worth sharing among threads.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace holdfast {

// What the host may use, read once per process from HOLDFAST_NUM_THREADS, HOLDFAST_MEMORY_LIMIT_GB,
// HOLDFAST_ISA, HOLDFAST_PRECEDENCE, Slurm's variables and the machine, in this order.
struct HostLimits {
  int threads = 1;
  std::optional<std::int64_t> memory_bytes = {};
  std::string isa = {};     // "x86-64-v4": chosen_isa() (base/machine.hpp), which has host code
  bool precedence = false;  // may use real-time scheduling (base/machine.hpp)
};
const HostLimits& host_limits();

// Work below which a second thread costs more than it saves: waking one takes as long as computing
// this alone.
inline constexpr double flops_worth_sharing = 2e6;

HostLimits read_host_limits();  // reads again; throws Error{bad_input} naming an invalid variable

}  // namespace holdfast
