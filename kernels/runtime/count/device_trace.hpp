// SPDX-License-Identifier: Apache-2.0
// What a device itself tells of its work, as plain data, and how it is laid onto what the host
// enqueued: by correlation, never by time window. CUPTI fills it (cupti_trace.hpp).
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/count/activity.hpp"

namespace holdfast {

// One kernel, copy or fill that the device ran.
struct DeviceRecord {
  enum class Kind { kernel, upload, download, copy, fill };
  Kind kind = Kind::kernel;
  const std::string* name = nullptr;  // of a kernel, mangled
  std::uint32_t correlation = 0;      // of the API call behind it; the nodes of a graph share one
  std::int64_t begin = 0, end = 0;    // ns on the device's clock; 0: it had no room to note them
  std::int64_t bytes = 0;

  bool timed() const { return begin > 0 && end >= begin; }
};

// API call `correlation` was made by the verb of this number: the one that begin_verb() was told,
// or, once named, the index of its activity.
struct Correlation {
  std::uint32_t correlation = 0;
  std::uint64_t verb = 0;
};

struct DeviceMemoryEvent {
  std::int64_t at = 0;  // ns on the device's clock
  std::uint64_t address = 0;
  std::int64_t bytes = 0;
  bool released = false;
};

// The same instant on two clocks.
struct ClockPair {
  double seconds = 0;       // of the recording
  std::int64_t device = 0;  // ns
};

// From the device's clock to the recording's, by the straight line through two instants; where they
// are too close for a slope, both clocks tick alike.
class ClockMap {
 public:
  ClockMap(const ClockPair& first, const ClockPair& last);
  double seconds(std::int64_t device) const;

 private:
  ClockPair origin_;
  double seconds_per_tick_ = 1e-9;
};

// In no order: devices deliver as it suits them.
struct DeviceRecords {
  std::set<std::string, std::less<>> names = {};  // that the records point to
  std::vector<DeviceRecord> work = {};
  std::vector<Correlation> correlations = {};
  std::vector<DeviceMemoryEvent> memory = {};
  std::int64_t modules_loaded = 0, jit_runs = 0;
  std::size_t dropped = 0;  // that the device had no room for
  ClockPair first = {}, last = {};
  std::string silence = {};  // why there is nothing; empty where there is

  const std::string* named(std::string_view name);
};

// Gives each slice its time on the device. A slice whose records are missing, or cannot be told
// from others' (a replayed graph that lost one of several equal nodes), gets none. Returns how many
// those are. The correlations' verbs are indices of activities.
std::size_t place(std::vector<DeviceSlice>& slices, const DeviceRecords& records);

DeviceCounts counts(const DeviceRecords& records);

// A device's own account of itself while one lives. Opening may fail without an error: then
// finish() says why there is nothing.
class DeviceTrace {
 public:
  virtual ~DeviceTrace() = default;
  virtual void begin_verb(std::uint64_t verb) = 0;
  virtual void end_verb() = 0;
  virtual DeviceRecords finish() = 0;  // of an idle device
};

}  // namespace holdfast
