// SPDX-License-Identifier: Apache-2.0
// What other work does to threads that should run at once: how long those of this process wanted a
// CPU and had to wait for one.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "base/files.hpp"
#include "harness/machine/other_work.hpp"

namespace holdfast {

// Threads that wanted a CPU and had none.
struct Waits {
  double seconds = 0;
  std::int64_t times = 0;
};

// What of these waits in `elapsed` seconds other work explains. A CPU that was idle, or that a
// thread yielded with nobody else there, is had again after some microseconds: a library that
// yields while it waits for its own threads waits so thousands of times a second, but never for a
// tenth of the time. Beside others who ran, threads that sleep while they wait for each other wait
// as briefly and as often, and then it is for them.
double by_others(const Waits& waits, double elapsed, bool others_ran);

class CpuWaits {
 public:
  // Watches the threads that work for this process now.
  CpuWaits();
  // Since each of them began, together. Where the kernel does not account for it, each time that
  // one was interrupted counts as a time slice.
  double seconds() const { return so_far().seconds; }
  // Since this watch began, by_others() of each time between two questions.
  double by_others();

 private:
  Waits so_far() const;

  std::vector<Descriptor> threads_ = {};
  OtherWork others_work_ = OtherWork();
  Waits asked_ = {};
  std::chrono::steady_clock::time_point when_ = {};  // it was asked last
  double others_ = 0;
};

}  // namespace holdfast
