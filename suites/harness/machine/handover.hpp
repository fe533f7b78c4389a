// SPDX-License-Identifier: Apache-2.0
// How far the processors stand apart that the threads of a host run on: a control for what steps in
// several threads take.
//
// A hypervisor puts the processors of a virtual machine under one cache for a while, and then under
// two: a hand-over took 50 or 350 ns, for half a minute each, and a step of cubed_sphere_swe with
// some barriers 60 or 130 us.
#pragma once

#include <optional>

namespace holdfast {

// Seconds that a cache line takes from one of two threads to the other and back, the least of
// several tries of a tenth of a millisecond; empty where this process runs in one thread.
std::optional<double> handover_seconds();

}  // namespace holdfast
