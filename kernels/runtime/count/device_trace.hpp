// SPDX-License-Identifier: Apache-2.0
// A device's own records of its work, as plain data, and how they are matched to what the host
// enqueued: by correlation, never by time window. CUPTI provides them (cupti_trace.hpp).
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/count/activity.hpp"

namespace holdfast {

// One kernel, copy or fill executed by the device.
struct DeviceRecord {
  enum class Kind { kernel, upload, download, copy, fill };
  Kind kind = Kind::kernel;
  const std::string* name = nullptr;  // of a kernel, mangled
  std::uint32_t correlation = 0;      // of the API call behind it; the nodes of a graph share one
  std::int64_t begin = 0, end = 0;    // ns on the device's clock; 0: not recorded for lack of room
  std::int64_t bytes = 0;

  bool timed() const { return begin > 0 && end >= begin; }
};

// The verb that made API call `correlation`: the number passed to begin_verb() or, once named, the
// index of its activity.
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
  double seconds = 0;       // on the recording's clock
  std::int64_t device = 0;  // ns
};

// Maps the device's clock to the recording's, by the straight line through two instants; if they
// are too close for a slope, by an offset alone.
class ClockMap {
 public:
  ClockMap(const ClockPair& first, const ClockPair& last);
  double seconds(std::int64_t device) const;

 private:
  ClockPair origin_;
  double seconds_per_tick_ = 1e-9;
};

// Unordered, as devices deliver them.
struct DeviceRecords {
  std::set<std::string, std::less<>> names = {};  // referred to by the records
  std::vector<DeviceRecord> work = {};
  std::vector<Correlation> correlations = {};
  std::vector<DeviceMemoryEvent> memory = {};
  std::int64_t modules_loaded = 0, jit_runs = 0;
  std::size_t dropped = 0;  // for lack of room on the device
  ClockPair first = {}, last = {};
  std::string silence = {};  // why there are no records; empty if there are

  const std::string* named(std::string_view name);
};

// Gives each slice its time on the device. A slice whose records are missing, or indistinguishable
// from others' (a replayed graph that lost one of several equal nodes), gets none. Returns the
// number of those. The correlations' verbs are indices of activities.
std::size_t place(std::vector<DeviceSlice>& slices, const DeviceRecords& records);

DeviceCounts counts(const DeviceRecords& records);

// Collects a device's own records while it lives. Opening may fail without an error: then finish()
// says why there are none.
class DeviceTrace {
 public:
  virtual ~DeviceTrace() = default;
  virtual void begin_verb(std::uint64_t verb) = 0;
  virtual void end_verb() = 0;
  virtual DeviceRecords finish() = 0;  // requires an idle device
};

}  // namespace holdfast
