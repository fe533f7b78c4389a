// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulation/lanes.hpp"

#include <utility>

namespace holdfast::emulation {

void Lanes::enqueue(Lane lane, Work work) {
  queue(lane).waiting.push_back(std::move(work));
  if (lane == ahead_) reach(now(lane));
}

Lanes::Moment Lanes::now(Lane lane) const {
  const Queue& given = queues_[static_cast<std::size_t>(lane)];
  return {.lane = lane, .position = given.begun + given.waiting.size()};
}

void Lanes::wait(Lane lane, Moment until) {
  enqueue(lane, [this, until] { reach(until); });
}

// Failed work is not retried: it counts as begun before it runs.
void Lanes::reach(Moment moment) {
  Queue& given = queue(moment.lane);
  while (given.begun < moment.position) {
    const Work work = std::move(given.waiting.front());
    given.waiting.pop_front();
    ++given.begun;
    work();
  }
}

void Lanes::finish() {
  reach(now(Lane::main));
  reach(now(Lane::copies));
}

}  // namespace holdfast::emulation
