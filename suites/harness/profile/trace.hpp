// SPDX-License-Identifier: Apache-2.0
// A profile as a timeline in Chrome's trace-event format, for https://ui.perfetto.dev: tracks of
// steps, scopes, host verbs and the device's stream, arrows from launches to their work, and the
// memory held.
#pragma once

#include <cstddef>
#include <string>

#include "harness/profile/profile_data.hpp"

namespace holdfast {

struct Trace {
  std::string text = {};  // JSON, one event per line
  std::string cut = {};   // what was left out and how to get a smaller one; empty: nothing was
};

// At most `limit` bytes. If larger, drops the warm-up first, then what begins last.
Trace trace_of(const Profiled& profiled, std::size_t limit = 5'000'000);

// Names of the tracks in the file.
inline constexpr std::string_view steps_track = "steps", scopes_track = "scopes",
                                  verbs_track = "host verbs",
                                  worker_track = "worker: ", device_track = "device",
                                  copies_track = "device: copies",
                                  idle_device_track = "device (not executed)",
                                  memory_track = "live bytes";

}  // namespace holdfast
