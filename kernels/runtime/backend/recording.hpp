// SPDX-License-Identifier: Apache-2.0
// A backend's events while a Recording is open: the source of profiles, traces and memory views.
// Without one nothing is kept, and a verb costs one more branch.
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

// Records one backend, and the scopes of the thread that opened it and of its workers (worker.hpp),
// from construction until stop() or destruction on that thread. At most one per backend, per
// thread, and on GPUs per process; Error{broken_rule} for a second one. Once a GPU was recorded its
// launches may cost a little more for the rest of the process: time first, record afterwards or in
// another process.
class Recording {
 public:
  explicit Recording(Backend& backend, RecordingLimits limits = {});
  ~Recording();
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  // Waits for the device, collects its records, ends the recording.
  void stop();

  double now() const;  // seconds since it began
  const std::vector<Activity>& activities() const;
  const std::vector<DeviceSlice>& slices() const;  // after stop()
  // In the order of opening. A scope that is still open has end -1 until the recording ends it.
  const std::vector<ScopeRecord>& scopes() const;
  const std::vector<WorkerTrack>& workers() const;    // after stop(); ordered by first scope
  std::optional<DeviceCounts> device_counts() const;  // after stop(); empty if not reported
  std::size_t dropped() const;                        // including what the device dropped
  // Why expected device times are missing: "CUPTI: insufficient privileges ...".
  std::optional<std::string> device_silence() const;

 private:
  Backend* backend_;  // null once stopped
  std::unique_ptr<Recorder> recorder_;
};

}  // namespace holdfast
