// SPDX-License-Identifier: Apache-2.0
// The latency between the processors that run a host's threads: a control for the times of
// multithreaded steps.
//
// A hypervisor may place a virtual machine's processors under one cache for a while, and then under
// two: a hand-over took 50 or 350 ns, for half a minute each, and a step of cubed_sphere_swe with
// some barriers 60 or 130 us.
#pragma once

#include <optional>

namespace holdfast {

// Seconds for a cache line to travel between two threads and back, the minimum of several tries of
// a tenth of a millisecond; empty if this process runs in one thread.
std::optional<double> handover_seconds();

}  // namespace holdfast
