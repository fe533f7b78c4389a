// SPDX-License-Identifier: Apache-2.0
// How soon a thread that sleeps runs again once it is called.
#pragma once

#include <vector>

namespace holdfast {

// Seconds until a thread on `cpu` has been woken by one on another CPU of `cpus`: the median of
// twenty calls, each after a sleep of a tenth of a millisecond; of fewer where they take too long.
double seconds_to_wake(int cpu, const std::vector<int>& cpus);

// On the worst of the first four of `cpus`, of which there are two or more.
double slowest_wake_up(const std::vector<int>& cpus);

}  // namespace holdfast
