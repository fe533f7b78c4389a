// SPDX-License-Identifier: Apache-2.0
// Lets threads share the stages of a run without barriers. For sources that are compiled once for
// each instruction set.
#pragma once

#include <sched.h>

#include <atomic>
#include <cstddef>
#include <vector>

#include "runtime/count/scope.hpp"

namespace holdfast::host::HOLDFAST_ISA {

// Assigns the parts of each stage. A thread takes its own parts first, then those that others have
// not begun; a stage begins when all parts of the previous one are done, even if a thread took
// none. A thread descheduled between parts therefore delays nobody, and no result depends on the
// assignment.
class Schedule {
 public:
  explicit Schedule(int parts) : parts_(parts), taken_(static_cast<std::size_t>(parts)) {}

  void restart() {
    done_.store(0, std::memory_order_relaxed);
    for (auto& stage : taken_) stage.store(0, std::memory_order_relaxed);
  }

  // do_part(part) for every part of stage 0, 1, 2, .. that this thread gets. Every thread of a team
  // asks for all stages, in order.
  template <class DoPart>
  void work(int stage, int thread, int team, DoPart do_part) {
    const int own = parts_ * thread / team;
    for (int k = 0; k < parts_; ++k) {
      const int part = (own + k) % parts_;
      int before = stage;
      if (!taken_[part].compare_exchange_strong(before, stage + 1, std::memory_order_relaxed))
        continue;
      wait_until_done(stage * parts_);
      do_part(part);
      done_.fetch_add(1, std::memory_order_release);
    }
  }

 private:
  void wait_until_done(int count) const {
    if (done_.load(std::memory_order_acquire) >= count) return;
    const Scope scope("wait");  // for parts in progress on other threads
    for (int turn = 0; done_.load(std::memory_order_acquire) < count; ++turn) {
      if (turn < 1000)
        __builtin_ia32_pause();
      else
        sched_yield();
    }
  }

  int parts_;
  alignas(64) std::atomic<int> done_ = 0;  // parts, over all stages
  std::vector<std::atomic<int>> taken_;    // by part: stages begun
};

}  // namespace holdfast::host::HOLDFAST_ISA
