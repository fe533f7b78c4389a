// SPDX-License-Identifier: Apache-2.0
// The storage of an open Recording. A verb of the backend reaches it through its ledger, and
// describes itself only if there is one:
//
//   const Verb verb(ledger.recorder, [&](Recorder& r) { return r.open(Kind::plan, shown(problem));
//   });
#pragma once

#include <chrono>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/time.hpp"
#include "runtime/count/activity.hpp"
#include "runtime/count/device_trace.hpp"
#include "runtime/count/scope_track.hpp"

namespace holdfast {

class Recorder {
 public:
  using Index = std::size_t;
  static constexpr Index none = static_cast<Index>(-1);  // a verb or scope that is not kept

  Recorder(const Ledger& ledger, RecordingLimits limits) : ledger_(&ledger), limits_(limits) {}

  // Begins a verb; what it enqueues on the device is kept with it. An empty name means the kind's.
  Index open(Activity::Kind kind, std::string_view name = {}, std::size_t bytes = 0,
             Lane lane = Lane::main);
  Index open(const Graph::Node& work);
  Index open_replay(const Graph& graph);
  Index open_transfer(Activity::Kind kind, std::size_t bytes, Lane lane = Lane::main);
  void close(Index verb);
  void abandon(Index verb);  // it threw: forgets it and what it enqueued
  void compiled(Index verb, const Compiled& program);

  Index open_scope(std::string_view name);
  void close_scope(Index scope);
  // For worker threads: at most one calls at a time, and none once finish() is called.
  std::size_t track_of(std::thread::id worker, std::string_view name);  // index into workers
  Index open_scope_of_worker(std::size_t track, std::string_view name);
  void close_scope_of_worker(std::size_t track, Index scope);

  double now() const { return seconds_since(start_); }
  std::chrono::steady_clock::time_point start() const { return start_; }

  void listen_to(std::unique_ptr<DeviceTrace> trace) { trace_ = std::move(trace); }
  // Ends open scopes and collects the device's records.
  void finish();

  std::vector<Activity> activities = {};
  std::vector<DeviceSlice> slices = {};
  ScopeTrack own = {};  // of the recording thread
  std::vector<WorkerTrack> workers = {};
  std::optional<DeviceCounts> device_counts = {};
  std::optional<std::string> silence = {};
  std::size_t dropped = 0;

 private:
  bool room_for(std::size_t more_slices);
  void enqueue(DeviceSlice slice);
  Index open_replayed(const std::string& name);
  void name_activities(std::vector<Correlation>& correlations) const;

  const Ledger* ledger_;
  RecordingLimits limits_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::unique_ptr<DeviceTrace> trace_ = {};
  // Tickets passed to the trace for each activity. An activity's index is reused if its verb threw.
  std::vector<std::uint64_t> tickets_ = {};
  std::uint64_t next_ticket_ = 0;
  bool full_ = false;
};

// One verb while it runs. Without a recorder it is one branch; a verb that throws is not kept.
class Verb {
 public:
  template <class Open>
  Verb(Recorder* recorder, const Open& open) : recorder_(recorder) {
    if (!recorder_) return;
    thrown_before_ = std::uncaught_exceptions();
    index_ = open(*recorder_);
  }
  ~Verb() {
    if (!recorder_) return;
    if (std::uncaught_exceptions() > thrown_before_)
      recorder_->abandon(index_);
    else
      recorder_->close(index_);
  }
  Verb(const Verb&) = delete;
  Verb& operator=(const Verb&) = delete;

  void compiled(const Compiled& program) const {
    if (recorder_) recorder_->compiled(index_, program);
  }

 private:
  Recorder* recorder_;
  Recorder::Index index_ = Recorder::none;
  int thrown_before_ = 0;
};

}  // namespace holdfast
