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
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/backend.hpp"
#include "runtime/scope.hpp"

namespace holdfast {

// One verb of the backend, as the host saw it, in the order in which they began. Seconds on the
// steady clock since the recording began. A verb that threw is not kept; what a capture records is
// not executed, so it is no activity: the replays are.
struct Activity {
  enum class Kind {
    kernel,   // a launch: name is the kernel's expression
    library,  // a BLAS or FFT call: "gemm [6, 48, 49, 49] f64"
    copy,     // within the device
    fill,
    upload,
    download,
    synchronize,
    capture,
    replay,    // of a graph: what it ran are the slices that point here
    allocate,  // name is the site
    release,
    compile,  // name is the program's; `compiled` says more
    plan,
  };
  Kind kind = Kind::kernel;
  std::string name = {};  // never empty: where nothing better is known, the kind's ("upload")
  double begin = 0, end = 0;
  int scope = -1;                      // index into Recording::scopes() of the innermost open one
  std::int64_t bytes = 0;              // moved, filled, allocated or released
  std::int64_t live_bytes = 0;         // held after it
  bool steady = false;                 // it happened in a steady step
  const Compiled* compiled = nullptr;  // of a compilation; lives as long as the backend
};
std::string_view name(Activity::Kind kind);

// One piece of work on the device's stream, in the stream's order. A replayed graph gives one per
// node.
struct DeviceSlice {
  Activity::Kind kind = Activity::Kind::kernel;  // kernel, library, copy, fill, upload or download
  std::string name = {};
  std::size_t activity = 0;            // who enqueued it: index into Recording::activities()
  const Function* function = nullptr;  // of a kernel of ours
  LaunchShape shape = {};
  std::int64_t bytes = 0;
  // On the device, on the recording's clock; absent on a device that does not execute. A library
  // call may be several kernels on the device: then it spans them, and `kernels` counts them.
  std::optional<double> begin = {}, end = {};
  int kernels = 1;
};

// What the device's own counters said while it was recorded (CUPTI), to hold against the ledger.
struct DeviceCounts {
  std::int64_t kernels = 0, copied_bytes_h2d = 0, copied_bytes_d2h = 0, copied_bytes_d2d = 0;
  std::int64_t modules_loaded = 0, jit_runs = 0, memory_peak_bytes = 0;
};

struct RecordingLimits {
  // Of activities, of slices and of scopes each: beyond it nothing more is kept, and dropped()
  // counts.
  std::size_t activities = 1'000'000;
};

class Recorder;

// Records one backend, and the scopes of the thread that opened it, from construction until stop()
// or destruction on that thread. At most one per backend, per thread, and on GPUs per process;
// Error{broken_rule} for a second one. Once a GPU was recorded its launches may cost a little more
// for the rest of the process: time first, record afterwards or in another process.
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
