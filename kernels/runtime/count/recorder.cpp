// SPDX-License-Identifier: Apache-2.0
#include "runtime/count/recorder.hpp"

#include <algorithm>
#include <utility>

#include "runtime/base/error.hpp"

namespace holdfast {
namespace {

Activity::Kind kind_of(const Graph::Node& work) {
  constexpr Activity::Kind kinds[] = {Activity::Kind::kernel, Activity::Kind::library,
                                      Activity::Kind::copy, Activity::Kind::fill};
  return kinds[static_cast<std::size_t>(work.kind)];
}

std::string_view name_of(const Graph::Node& work) {
  if (work.function) return work.function->expression;
  return work.library.empty() ? name(kind_of(work)) : work.library;
}

DeviceSlice slice_of(const Graph::Node& work) {
  return {.kind = kind_of(work),
          .name = std::string(name_of(work)),
          .function = work.function,
          .shape = work.shape,
          .bytes = work.bytes,
          .kernels = work.device_nodes};
}

}  // namespace

// Keeps a prefix without holes: once something did not fit, nothing later is kept.
bool Recorder::room_for(std::size_t more_slices) {
  if (activities.size() >= limits_.activities || slices.size() + more_slices > limits_.activities)
    full_ = true;
  if (full_) ++dropped;
  return !full_;
}

Recorder::Index Recorder::open(Activity::Kind kind, std::string_view what, std::size_t bytes,
                               Lane lane) {
  if (!room_for(0)) return none;
  const Index verb = activities.size();
  activities.push_back({.kind = kind,
                        .name = std::string(what.empty() ? name(kind) : what),
                        .begin = now(),
                        .end = ScopeTrack::still_open,
                        .scope = own.innermost(),
                        .bytes = static_cast<std::int64_t>(bytes),
                        .steady = ledger_->phase() == Ledger::Phase::steady,
                        .lane = lane});
  if (trace_) trace_->begin_verb(tickets_.emplace_back(next_ticket_++));
  return verb;
}

void Recorder::enqueue(DeviceSlice slice) {
  slice.activity = activities.size() - 1;
  slice.lane = activities.back().lane;
  slice.scope = own.innermost();
  slices.push_back(std::move(slice));
}

Recorder::Index Recorder::open(const Graph::Node& work) {
  if (!room_for(1)) return none;
  const auto verb = open(kind_of(work), name_of(work), static_cast<std::size_t>(work.bytes));
  enqueue(slice_of(work));
  return verb;
}

Recorder::Index Recorder::open_transfer(Activity::Kind kind, std::size_t bytes, Lane lane) {
  if (!room_for(1)) return none;
  const auto verb = open(kind, {}, bytes, lane);
  enqueue(
      {.kind = kind, .name = std::string(name(kind)), .bytes = static_cast<std::int64_t>(bytes)});
  return verb;
}

Recorder::Index Recorder::open_replay(const Graph& graph) {
  if (!room_for(graph.nodes.size())) return none;
  const auto verb =
      open(Activity::Kind::replay, "graph of " + std::to_string(graph.nodes.size()) + " nodes");
  const Index first = own.scopes.size();
  std::vector<std::string> path;
  std::vector<Index> opened;
  for (const auto& node : graph.nodes) {
    const std::vector<std::string>& next = node.scopes;
    const auto [same, other] = std::mismatch(path.begin(), path.end(), next.begin(), next.end());
    const auto common = static_cast<std::size_t>(same - path.begin());
    if (common < opened.size()) close_scope(opened[common]);
    opened.resize(common);
    for (auto name = other; name != next.end(); ++name) opened.push_back(open_replayed(*name));
    path = next;
    enqueue(slice_of(node));
  }
  if (!opened.empty()) close_scope(opened.front());
  for (Index scope = first; scope < own.scopes.size(); ++scope)
    own.scopes[scope].begin = own.scopes[scope].end = activities[verb].begin;
  return verb;
}

Recorder::Index Recorder::open_replayed(const std::string& name) {
  const Index scope = open_scope(name);
  if (scope != none) own.scopes[scope].replayed = true;
  return scope;
}

void Recorder::close(Index verb) {
  if (verb == none) return;
  activities[verb].end = now();
  activities[verb].live_bytes = ledger_->live_bytes;
  if (trace_) trace_->end_verb();
}

void Recorder::abandon(Index verb) {
  if (verb == none) return;
  if (trace_) {
    trace_->end_verb();
    tickets_.resize(verb);
  }
  activities.resize(verb);
  while (!slices.empty() && slices.back().activity >= verb) slices.pop_back();
}

void Recorder::compiled(Index verb, const Compiled& program) {
  if (verb != none) activities[verb].compiled = &program;
}

Recorder::Index Recorder::open_scope(std::string_view what) {
  if (own.scopes.size() >= limits_.activities) full_ = true;
  if (full_) {
    ++dropped;
    return none;
  }
  return own.open(what, now());
}

void Recorder::close_scope(Index scope) {
  if (scope != none) own.close(scope, now());
}

std::size_t Recorder::track_of(std::thread::id worker, std::string_view name) {
  const auto found = std::ranges::find_if(workers, [&](const WorkerTrack& track) {
    return track.thread == worker && track.name == name;
  });
  const auto track = static_cast<std::size_t>(found - workers.begin());
  if (track == workers.size()) workers.emplace_back(worker, name);
  return track;
}

Recorder::Index Recorder::open_scope_of_worker(std::size_t track, std::string_view what) {
  WorkerTrack& of = workers[track];
  if (of.scopes.size() < limits_.activities) return of.open(what, now());
  ++of.dropped;
  return none;
}

void Recorder::close_scope_of_worker(std::size_t track, Index scope) {
  if (scope != none) workers[track].close(scope, now());
}

// Converts tickets to indices; correlations of a verb that threw are erased.
void Recorder::name_activities(std::vector<Correlation>& correlations) const {
  std::erase_if(correlations, [&](const Correlation& of) {
    return !std::binary_search(tickets_.begin(), tickets_.end(), of.verb);
  });
  for (auto& of : correlations)
    of.verb = static_cast<std::uint64_t>(
        std::lower_bound(tickets_.begin(), tickets_.end(), of.verb) - tickets_.begin());
}

void Recorder::finish() {
  own.close_all(now());
  for (WorkerTrack& worker : workers) {
    worker.close_all(now());
    dropped += worker.dropped;
  }
  if (!trace_) return;
  auto records = std::exchange(trace_, nullptr)->finish();
  dropped += records.dropped;
  if (!records.silence.empty()) {
    silence = records.silence;
    return;
  }
  device_counts = counts(records);
  name_activities(records.correlations);
  const auto without = place(slices, records);
  if (without > 0 && without == slices.size())
    silence = text("CUPTI: told the time of none of ", without, " pieces of work");
}

}  // namespace holdfast
