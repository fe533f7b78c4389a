// SPDX-License-Identifier: Apache-2.0
// The lanes of an emulated device: work queues, of which one runs ahead as far as its events allow
// while the other lags as far as its events allow.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>

#include "runtime/count/launch.hpp"

namespace holdfast::emulation {

// When copies run that nothing delays: at once, before the kernels enqueued ahead of them, or at
// the last moment. A missing wait shows in one of the two.
enum class CopyLane { early, late };

class Lanes {
 public:
  using Work = std::function<void()>;
  // A point after everything enqueued so far on a lane.
  struct Moment {
    Lane lane = Lane::main;
    std::uint64_t position = 0;
  };

  explicit Lanes(CopyLane copies) : ahead_(copies == CopyLane::early ? Lane::copies : Lane::main) {}

  void enqueue(Lane lane, Work work);
  Moment now(Lane lane) const;
  void wait(Lane lane, Moment until);
  // Runs the work before the moment, and whatever that waits for.
  void reach(Moment moment);
  bool reached(Moment moment) const {
    return queues_[static_cast<std::size_t>(moment.lane)].begun >= moment.position;
  }
  void finish();

 private:
  struct Queue {
    std::deque<Work> waiting = {};
    std::uint64_t begun = 0;
  };
  Queue& queue(Lane lane) { return queues_[static_cast<std::size_t>(lane)]; }

  Lane ahead_;
  Queue queues_[2] = {};
};

}  // namespace holdfast::emulation
