// SPDX-License-Identifier: Apache-2.0
// What a backend did, event by event, while somebody listened: profiles, traces and memory views
// are made of it. Unless a Recording is open nothing is kept, and a verb costs one branch more.
//
//   Recording recording(*backend);  // before the computation is made: memory and compilations too
//   ...
//   recording.stop();
//   for (const auto& slice : recording.slices()) ...
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/backend/backend.hpp"
#include "runtime/count/activity.hpp"
#include "runtime/count/scope_track.hpp"

namespace holdfast {

class Recorder;

// Records one backend, and the scopes of the thread that opened it and of those that work for it
// (worker.hpp), from construction until stop() or destruction on that thread. At most one per
// backend, per thread, and on GPUs per process; Error{broken_rule} for a second one. Once a GPU was
// recorded its launches may cost a little more for the rest of the process: time first, record
// afterwards or in another process.
class Recording {
 public:
  explicit Recording(Backend& backend, RecordingLimits limits = {});
  ~Recording();
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  // Waits for the device, collects what it has to tell, ends the recording.
  void stop();

  double now() const;  // seconds since it began
  const std::vector<Activity>& activities() const;
  const std::vector<DeviceSlice>& slices() const;  // after stop()
  // In the order in which they were opened. One that is still open has the end -1, until it ends
  // with the recording.
  const std::vector<ScopeRecord>& scopes() const;
  const std::vector<WorkerTrack>& workers() const;    // after stop(); in the order of first scopes
  std::optional<DeviceCounts> device_counts() const;  // after stop(); empty unless the device told
  std::size_t dropped() const;                        // what the device itself lost included
  // Why the device's own times are missing where they could be expected: "CUPTI: insufficient
  // privileges ...".
  std::optional<std::string> device_silence() const;

 private:
  Backend* backend_;  // null once stopped
  std::unique_ptr<Recorder> recorder_;
};

}  // namespace holdfast
