// SPDX-License-Identifier: Apache-2.0
// Gives each thread of the team its own CPUs, so that threads that can run at once do. If another
// program occupies a CPU, the kernel may keep a whole team on the others, one thread at a time:
// contention between the threads, such as a lock around all of them, then costs nothing and stays
// hidden.
#pragma once

#include <sched.h>

#include <optional>
#include <vector>

namespace holdfast {

// Every `threads`-th of the allowed CPUs, starting from each of the first ones: with CPUs numbered
// cores first, both halves of a core. Empty if there are fewer CPUs than threads.
std::vector<cpu_set_t> shares_of(const cpu_set_t& allowed, int threads);

// Pins the calling thread to these CPUs from now on.
void stay_on(const std::vector<int>& cpus);

// Pins the team for as long as it lives.
class ThreadsApart {
 public:
  ThreadsApart();
  ThreadsApart(const ThreadsApart&) = delete;
  ThreadsApart& operator=(const ThreadsApart&) = delete;
  ~ThreadsApart();

 private:
  std::optional<cpu_set_t> before_ = {};  // empty if they were not changed
};

}  // namespace holdfast
