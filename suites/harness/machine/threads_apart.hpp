// SPDX-License-Identifier: Apache-2.0
// CPUs of its own for each thread of the team, so that threads which could work at once do. Where
// another program holds a CPU, the kernel keeps a whole team on the others, one thread at a time:
// what the threads do to each other, a lock around all of them, then costs nothing and is not seen.
#pragma once

#include <sched.h>

#include <optional>
#include <vector>

namespace holdfast {

// Of the CPUs that may be used every `threads`-th, once from each of the first on: of numbers that
// count cores first, both halves of a core. Empty where there are fewer CPUs than threads.
std::vector<cpu_set_t> shares_of(const cpu_set_t& allowed, int threads);

// Of the calling thread: it stays on one of these CPUs from now on.
void stay_on(const std::vector<int>& cpus);

// For as long as it lives.
class ThreadsApart {
 public:
  ThreadsApart();
  ThreadsApart(const ThreadsApart&) = delete;
  ThreadsApart& operator=(const ThreadsApart&) = delete;
  ~ThreadsApart();

 private:
  std::optional<cpu_set_t> before_ = {};  // empty where they were left as they are
};

}  // namespace holdfast
