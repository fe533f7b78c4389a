// SPDX-License-Identifier: Apache-2.0
// Which transfers of the copy lane may run beside kernels. It follows from the order that waits
// give to both lanes, so it is known where nothing executes, too. An event that the host merely
// finds reached orders nothing, because when it does depends on the device.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/count/launch.hpp"

namespace holdfast {

// How much of each lane's work is done: launches and replays of the main lane, transfers of the
// copy lane.
struct Progress {
  std::int64_t launches = 0, transfers = 0;

  void include(const Progress& other);
};

class Overlap {
 public:
  // Enqueue work. Both return the bytes of transfers that are found to have a launch beside them.
  std::int64_t launch();
  std::int64_t transfer(std::int64_t bytes);
  // Launches so far that a transfer waits for and that none was beside: a copy that waits for the
  // last large kernel, and may run beside the small one behind it, hides as many bytes as before.
  std::int64_t lone_launches() const { return lone_launches_; }

  // What is done once an event that is recorded now is reached.
  Progress recorded(Lane lane) const;
  void wait(Lane lane, const Progress& done);
  void await(const Progress& done);  // by the host
  void await_all() { await(enqueued_); }

 private:
  struct Transfer {
    std::int64_t number = 0, bytes = 0;
  };

  void forget_before(std::int64_t transfers);

  Progress enqueued_ = {};
  Progress host_ = {};                // done before what the host enqueues next
  Progress main_ = {}, copies_ = {};  // done before the lane's next work
  std::vector<Transfer> alone_ = {};  // no launch was enqueued beside them so far
  std::int64_t first_lone_ = 1;       // launches from here on had no transfer beside them so far
  std::int64_t lone_launches_ = 0;
};

}  // namespace holdfast
