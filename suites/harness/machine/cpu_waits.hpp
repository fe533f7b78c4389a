// SPDX-License-Identifier: Apache-2.0
// The effect of other work on threads that should run at once: how long threads of this process
// were runnable and waited for a CPU.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <vector>

#include "base/files.hpp"
#include "harness/machine/other_work.hpp"

namespace holdfast {

// Waits of runnable threads without a CPU.
struct Waits {
  double seconds = 0;
  std::int64_t times = 0;
};

// The part of these waits in `elapsed` seconds that other work explains. An idle CPU, or one
// yielded with nobody else there, is available again after some microseconds: a library that yields
// while waiting for its own threads waits so thousands of times a second, but never for a tenth of
// the time. If others ran, threads that sleep while waiting for each other wait as briefly and as
// often, and then it is because of others.
double by_others(const Waits& waits, double elapsed, bool others_ran);

class CpuWaits {
 public:
  // Watches the present working threads of this process (own_work.hpp).
  CpuWaits();
  // The sum since each of them began; one that has ended keeps what was last seen of it. If the
  // kernel does not account for it, each interruption counts as a time slice.
  double seconds() { return so_far().seconds; }
  // The sum of by_others() over the intervals between calls, since this watch began. Threads that
  // began meanwhile are watched from now on as well: a smaller team of OpenMP ends those of a
  // larger one, which has new ones the next time.
  double by_others();

 private:
  struct Watched {
    pid_t thread;
    Descriptor schedstat;
    Waits last = {};  // seen, for when the thread has ended
  };
  void watch_new();
  Waits so_far();

  std::vector<Watched> threads_ = {};
  Waits of_ended_ = {};
  bool accounted_ = false;  // by the kernel
  OtherWork others_work_ = OtherWork();
  Waits asked_ = {};
  std::chrono::steady_clock::time_point when_ = {};  // of the last call
  double others_ = 0;
};

}  // namespace holdfast
