// SPDX-License-Identifier: Apache-2.0
// A Recording's data: verbs of the backend, work on the device, the device's counters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/count/launch.hpp"

namespace holdfast {

struct Compiled;

// One verb of the backend as seen by the host, in order of beginning. Seconds on the steady clock
// since the recording began. A verb that threw is not kept; what a capture records is not executed
// and is no activity, but its replays are.
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
    replay,    // a graph's; its work is the slices that refer to it
    allocate,  // name is the site
    release,
    compile,  // name is the program's; `compiled` says more
    plan,
    record,  // of an event on a lane: name is the event's
    wait,    // of a lane for an event
  };
  Kind kind = Kind::kernel;
  std::string name = {};  // never empty: by default the kind's ("upload")
  double begin = 0, end = 0;
  int scope = -1;                      // index into Recording::scopes() of the innermost open one
  std::int64_t bytes = 0;              // moved, filled, allocated or released
  std::int64_t live_bytes = 0;         // held afterwards
  bool steady = false;                 // in a steady step
  Lane lane = Lane::main;              // the one used
  const Compiled* compiled = nullptr;  // of a compilation; lives as long as the backend
};
constexpr std::string_view name(Activity::Kind kind) {
  constexpr std::string_view names[] = {"kernel",   "library",     "copy",    "fill",   "upload",
                                        "download", "synchronize", "capture", "replay", "allocate",
                                        "release",  "compile",     "plan",    "record", "wait"};
  return names[static_cast<std::size_t>(kind)];
}

// One piece of work on a lane of the device, in order of enqueuing. A replayed graph gives one per
// node.
struct DeviceSlice {
  Activity::Kind kind = Activity::Kind::kernel;  // kernel, library, copy, fill, upload or download
  std::string name = {};
  std::size_t activity = 0;            // that enqueued it: index into Recording::activities()
  const Function* function = nullptr;  // for our own kernels
  LaunchShape shape = {};
  std::int64_t bytes = 0;
  Lane lane = Lane::main;
  int scope = -1;  // index into Recording::scopes(); for a replayed node, the scope of its capture
  // Times on the device, on the recording's clock; absent on a device that does not execute. A
  // library call may be several kernels on the device: then it spans them, and `kernels` counts
  // them.
  std::optional<double> begin = {}, end = {};
  int kernels = 1;
};

// The device's own counters during the recording (CUPTI), for comparison with the ledger.
struct DeviceCounts {
  std::int64_t kernels = 0, copied_bytes_h2d = 0, copied_bytes_d2h = 0, copied_bytes_d2d = 0;
  std::int64_t modules_loaded = 0, jit_runs = 0, memory_peak_bytes = 0;
};

struct RecordingLimits {
  // Limit for activities, slices and scopes each; beyond it nothing more is kept, and dropped()
  // counts.
  std::size_t activities = 1'000'000;
};

}  // namespace holdfast
