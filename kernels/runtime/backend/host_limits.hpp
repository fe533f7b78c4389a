// SPDX-License-Identifier: Apache-2.0
// What the host's side of a process may use, and what is worth sharing among its threads.
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
  std::string isa =
      {};  // "x86-64-v4": the widest level that this CPU has and the project compiles for
  bool precedence = false;  // its threads may go before those of others (base/machine.hpp)
};
const HostLimits& host_limits();

// Work below which a second thread costs more than it brings: waking one that sleeps takes as long
// as computing this alone.
inline constexpr double flops_worth_sharing = 2e6;

HostLimits read_host_limits();  // anew; throws Error{bad_input} naming a variable that is no number

}  // namespace holdfast
