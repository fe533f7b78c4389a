// SPDX-License-Identifier: Apache-2.0
// For tests: recordings made by hand, verb by verb, on a given clock.
#pragma once

#include <deque>
#include <string>
#include <utility>

#include "harness/profile/profile_data.hpp"

namespace holdfast {

inline constexpr double us = 1e-6;

// A device on which each verb takes one microsecond of host time, and kernels the given time.
class Synthetic {
 public:
  static constexpr double verb_seconds = us;

  explicit Synthetic(bool executes = true) {
    data = {.suite = "toy",
            .case_id = "toy/count/n:1/f64",
            .device = executes ? "cuda" : "cuda-dry:sm_90",
            .device_class = "toy-class",
            .device_name = "toy device",
            .executes = executes,
            .architecture = architecture(90)};
  }

  // Also advances the clock.
  Activity& verb(Activity::Kind kind, const std::string& name) {
    data.recorded.activities.push_back({.kind = kind,
                                        .name = name,
                                        .begin = now,
                                        .end = now + verb_seconds,
                                        .scope = open_.empty() ? -1 : open_.back(),
                                        .live_bytes = live_});
    now += verb_seconds;
    return data.recorded.activities.back();
  }

  // Device work from `begin` to `end`, enqueued now.
  DeviceSlice& slice(Activity::Kind kind, const std::string& name, double begin, double end) {
    (void)verb(kind, name);
    return enqueue(kind, name, begin, end);
  }
  DeviceSlice& enqueue(Activity::Kind kind, const std::string& name, double begin, double end) {
    DeviceSlice& slice = data.recorded.slices.emplace_back();
    slice.kind = kind;
    slice.name = name;
    slice.activity = data.recorded.activities.size() - 1;
    if (data.executes) {
      slice.begin = begin;
      slice.end = end;
    }
    return slice;
  }
  DeviceSlice& kernel(const std::string& name, double begin, double end, LaunchShape shape = {}) {
    DeviceSlice& launched = slice(Activity::Kind::kernel, name, begin, end);
    launched.function = &function(name);
    launched.shape = shape;
    ++data.counts.launches;
    return launched;
  }

  void allocate(const std::string& site, std::int64_t bytes) {
    live_ += bytes;
    Activity& activity = verb(Activity::Kind::allocate, site);
    activity.bytes = bytes;
    if (live_ > data.peak_bytes) data.peak_bytes = live_;
    data.live_bytes = live_;
  }
  void release(const std::string& site, std::int64_t bytes) {
    live_ -= bytes;
    verb(Activity::Kind::release, site).bytes = bytes;
    data.live_bytes = live_;
  }

  void open(const std::string& scope) {
    const int depth = static_cast<int>(open_.size());
    data.recorded.scopes.push_back({.name = scope, .depth = depth, .begin = now});
    open_.push_back(static_cast<int>(data.recorded.scopes.size()) - 1);
  }
  void close() {
    data.recorded.scopes[static_cast<std::size_t>(open_.back())].end = now;
    open_.pop_back();
  }

  template <class Body>
  ProfiledStep stepped(const Body& body) {
    ProfiledStep step{.begin = now,
                      .first_activity = data.recorded.activities.size(),
                      .first_scope = data.recorded.scopes.size()};
    body();
    step.end = now;
    step.end_activity = data.recorded.activities.size();
    step.end_scope = data.recorded.scopes.size();
    return step;
  }
  // A profiled step of the last window; the first call opens one.
  template <class Body>
  void step(const Body& body) {
    if (data.windows.empty()) data.windows.emplace_back();
    data.windows.back().steps.push_back(stepped(body));
  }

  Function& function(const std::string& name) {
    for (Function& known : functions_)
      if (known.expression == name) return known;
    functions_.push_back({.expression = name, .registers = 32});
    return functions_.back();
  }

  Profiled data = {};
  double now = 0;

 private:
  std::int64_t live_ = 0;
  std::vector<int> open_ = {};
  std::deque<Function> functions_ = {};  // addresses are stable
};

}  // namespace holdfast
