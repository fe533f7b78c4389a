// SPDX-License-Identifier: Apache-2.0
#include "harness/profile/trace.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>

#include "harness/case/profile_options.hpp"
#include "harness/profile/profile.hpp"
#include "runtime/base/error.hpp"

namespace holdfast {
namespace {

using nlohmann::json;

constexpr int host = 1, device = 2;                                // processes
constexpr int steps = 1, scopes = 2, verbs = 3, first_worker = 4;  // threads of the host
constexpr int main_lane = 1, copy_lane = 2;                        // threads of the device
constexpr double unit = 1e-6;  // length of a slice on a device that does not execute, s

// Times are rounded to nanoseconds before conversion to the format's microseconds: equal rounding
// of both ends keeps nested intervals nested.
std::int64_t nanoseconds(double seconds) {
  return std::llround(seconds * 1e9);
}

std::string microseconds(std::int64_t nanoseconds) {
  char words[40];
  std::snprintf(words, sizeof words, "%lld.%03lld", static_cast<long long>(nanoseconds / 1000),
                static_cast<long long>(nanoseconds % 1000));
  return words;
}

std::string quoted(std::string_view words) {
  return json(words).dump();
}

std::string complete(int process, int thread, std::string_view name, double begin, double end,
                     const std::string& arguments) {
  const std::int64_t from = nanoseconds(begin), to = std::max(from, nanoseconds(end));
  return text(R"({"ph":"X","pid":)", process, R"(,"tid":)", thread, R"(,"ts":)", microseconds(from),
              R"(,"dur":)", microseconds(to - from), R"(,"name":)", quoted(name),
              arguments.empty() ? "" : R"(,"args":{)", arguments, arguments.empty() ? "" : "}",
              "}");
}

std::string flow(char phase, int process, int thread, double at, std::size_t id) {
  return text(R"({"ph":")", phase, R"(","pid":)", process, R"(,"tid":)", thread, R"(,"ts":)",
              microseconds(nanoseconds(at)), R"(,"id":)", id, R"(,"cat":"launch","name":"launch")",
              phase == 'f' ? R"(,"bp":"e"})" : "}");
}

std::string metadata(int process, int thread, std::string_view what, std::string_view name) {
  return text(R"({"ph":"M","pid":)", process, R"(,"tid":)", thread, R"(,"name":")", what,
              R"(","args":{"name":)", quoted(name), "}}");
}

std::string sort_index(int process, int thread) {
  return text(R"({"ph":"M","pid":)", process, R"(,"tid":)", thread,
              R"(,"name":"thread_sort_index","args":{"sort_index":)", thread, "}}");
}

std::string shown(const Dim3& extent) {
  return text("[", extent.x, ",", extent.y, ",", extent.z, "]");
}

// A slice's interval on the device's track.
struct Place {
  double begin = 0, end = 0;
};

int track_of(const DeviceSlice& slice) {
  return slice.lane == Lane::copies ? copy_lane : main_lane;
}

// On a device that does not execute, slices take one unit each in their lane's order, none before
// its launch. On others, slices without times are not placed.
std::vector<std::optional<Place>> places(const Profiled& profiled) {
  std::vector<std::optional<Place>> result;
  std::map<Lane, double> free_at;
  for (const DeviceSlice& slice : profiled.recorded.slices) {
    std::optional<Place>& place = result.emplace_back();
    if (slice.begin && slice.end) place = {*slice.begin, *slice.end};
    if (profiled.executes) continue;
    const double begin =
        std::max(free_at[slice.lane], profiled.recorded.activities.at(slice.activity).begin);
    place = {begin, begin + unit};
    free_at[slice.lane] = place->end;
  }
  return result;
}

std::string slice_arguments(const Profiled& profiled, const DeviceSlice& slice) {
  std::string out = text(R"("correlation":)", slice.activity);
  if (!profiled.executes) out += R"(,"executed":false)";
  if (slice.bytes > 0) out += text(R"(,"bytes":)", slice.bytes);
  if (slice.kernels > 1) out += text(R"(,"kernels":)", slice.kernels);
  if (!slice.function || !profiled.architecture) return out;
  const KernelFit kernel = fit(*profiled.architecture, *slice.function, slice.shape);
  return out + text(R"(,"grid":)", shown(slice.shape.grid), R"(,"block":)",
                    shown(slice.shape.block), R"(,"registers":)", kernel.registers,
                    R"(,"shared_bytes":)",
                    kernel.shared_bytes + static_cast<std::int64_t>(slice.shape.shared_bytes),
                    R"(,"spill_bytes":)", kernel.spill_bytes, R"(,"occupancy":)",
                    json(kernel.occupancy).dump());
}

std::string verb_arguments(const Activity& activity, std::size_t index) {
  std::string out = text(R"("activity":)", index);
  if (activity.bytes > 0) out += text(R"(,"bytes":)", activity.bytes);
  if (activity.compiled)
    out += text(R"(,"reason":)", quoted(activity.compiled->reason), R"(,"from_cache":)",
                activity.compiled->from_cache ? "true" : "false");
  return out;
}

// Lines that are kept or dropped together: a step, a scope, a verb, a slice with its arrow. A slice
// is sorted with its launch, so that it is never kept without it.
struct Piece {
  double begin = 0;
  bool warm_up = false;
  std::string lines = {};
};

class Writer {
 public:
  Writer(const Profiled& profiled, std::size_t limit) : profiled_(profiled), limit_(limit) {
    if (profiled.warm_up.size() > 1) {
      warm_begin_ = profiled.warm_up[1].begin;
      warm_end_ = profiled.warm_up.back().end;
    }
  }

  std::vector<Piece> pieces() {
    add_steps();
    add_scopes(scopes, profiled_.recorded.scopes);
    for (int i = 0; const WorkerTrack& worker : profiled_.recorded.workers)
      add_scopes(first_worker + i++, worker.scopes);
    add_verbs();
    std::stable_sort(pieces_.begin(), pieces_.end(),
                     [](const Piece& a, const Piece& b) { return a.begin < b.begin; });
    return std::move(pieces_);
  }

 private:
  bool in_warm_up(double begin) const { return begin >= warm_begin_ && begin < warm_end_; }
  void add(double begin, std::string lines) {
    pieces_.push_back({.begin = begin, .warm_up = in_warm_up(begin), .lines = std::move(lines)});
  }

  void add_scopes(int thread, const std::vector<ScopeRecord>& records) {
    for (const ScopeRecord& scope : records)
      if (!scope.replayed)  // replayed ones have no length here
        add(scope.begin, complete(host, thread, scope.name, scope.begin, scope.end, ""));
  }

  void add_step(const std::string& name, const ProfiledStep& step) {
    add(step.begin, complete(host, steps, name, step.begin, step.end, ""));
  }
  void add_steps() {
    for (std::size_t i = 0; i < profiled_.warm_up.size(); ++i)
      add_step(text("warm-up ", i), profiled_.warm_up[i]);
    for (const StepWindow& window : profiled_.windows)
      for (std::size_t i = 0; i < window.steps.size(); ++i)
        add_step(text("step ", static_cast<std::size_t>(window.first_step) + i), window.steps[i]);
  }

  // Adds each verb followed by its work on the device, until these alone exceed the limit: later
  // ones would never be kept.
  void add_verbs() {
    const std::vector<Activity>& activities = profiled_.recorded.activities;
    const std::vector<DeviceSlice>& slices = profiled_.recorded.slices;
    const auto placed = places(profiled_);
    std::size_t slice = 0;
    for (std::size_t i = 0; i < activities.size() && size_ <= limit_; ++i) {
      add_verb(i);
      for (; slice < slices.size() && slices[slice].activity <= i && size_ <= limit_; ++slice)
        if (placed[slice]) add_slice(slice, *placed[slice]);
    }
  }

  void add_work(double begin, std::string lines) {
    if (!in_warm_up(begin)) size_ += lines.size();
    add(begin, std::move(lines));
  }
  void add_verb(std::size_t index) {
    const Activity& verb = profiled_.recorded.activities[index];
    std::string lines =
        complete(host, verbs, verb.name, verb.begin, verb.end, verb_arguments(verb, index));
    if (verb.kind == Activity::Kind::allocate || verb.kind == Activity::Kind::release)
      lines +=
          text(",\n", R"({"ph":"C","pid":)", host, R"(,"ts":)", microseconds(nanoseconds(verb.end)),
               R"(,"name":")", memory_track, R"(","args":{"bytes":)", verb.live_bytes, "}}");
    add_work(verb.begin, std::move(lines));
  }

  void add_slice(std::size_t index, const Place& place) {
    const DeviceSlice& slice = profiled_.recorded.slices[index];
    const double launched = profiled_.recorded.activities[slice.activity].begin;
    add_work(launched, text(flow('s', host, verbs, launched, index), ",\n",
                            complete(device, track_of(slice), slice.name, place.begin, place.end,
                                     slice_arguments(profiled_, slice)),
                            ",\n", flow('f', device, track_of(slice), place.begin, index)));
  }

  const Profiled& profiled_;
  std::size_t limit_, size_ = 0;  // bytes; size_ is of verbs and their work after the warm-up
  double warm_begin_ = 0, warm_end_ = 0;
  std::vector<Piece> pieces_ = {};
};

std::size_t size_of(const std::vector<Piece>& pieces) {
  std::size_t size = 0;
  for (const Piece& piece : pieces) size += piece.lines.size() + 2;
  return size;
}

std::string names(const Profiled& profiled) {
  std::string out;
  const auto add = [&](const std::string& line) { out += line + ",\n"; };
  add(metadata(host, 0, "process_name",
               text(profiled.case_id, " ", variant_name(profiled.variant), ", host")));
  const auto add_thread = [&](int thread, std::string_view name) {
    add(metadata(host, thread, "thread_name", name));
    add(sort_index(host, thread));
  };
  add_thread(steps, steps_track);
  add_thread(scopes, scopes_track);
  add_thread(verbs, verbs_track);
  for (int i = 0; const WorkerTrack& worker : profiled.recorded.workers)
    add_thread(first_worker + i++, text(worker_track, worker.name));
  if (!profiled.architecture) return out;
  add(metadata(device, 0, "process_name", profiled.device_name));
  add(metadata(device, main_lane, "thread_name",
               profiled.executes ? device_track : idle_device_track));
  if (std::any_of(profiled.recorded.slices.begin(), profiled.recorded.slices.end(),
                  [](const DeviceSlice& slice) { return slice.lane == Lane::copies; }))
    add(metadata(device, copy_lane, "thread_name", copies_track));
  return out;
}

// Drops what exceeds `room`, and returns a sentence about it.
std::string cut_to(std::size_t room, const Profiled& profiled, std::vector<Piece>& pieces) {
  if (size_of(pieces) <= room) return {};
  std::erase_if(pieces, [](const Piece& piece) { return piece.warm_up; });
  std::size_t size = 0, kept = 0;
  while (kept < pieces.size() && size + pieces[kept].lines.size() + 2 <= room)
    size += pieces[kept++].lines.size() + 2;
  const double until = kept < pieces.size() ? pieces[kept].begin : INFINITY;
  pieces.resize(kept);
  std::size_t whole = 0;
  for (const StepWindow& window : profiled.windows)
    for (const ProfiledStep& step : window.steps) whole += step.end <= until;
  return text("the trace is cut: without the warm-up it holds ", whole, " of ",
              profiled.step_count(), " profiled steps whole; take a smaller one with ",
              "--profile-steps=", std::max<std::size_t>(whole, 1));
}

}  // namespace

Trace trace_of(const Profiled& profiled, std::size_t limit) {
  constexpr std::size_t frame = 1000;  // text around the events
  std::vector<Piece> pieces = Writer(profiled, limit).pieces();
  const std::string named = names(profiled);
  const std::size_t room = limit - std::min(limit, named.size() + frame);
  Trace trace{.cut = cut_to(room, profiled, pieces)};

  json about = {{"suite", profiled.suite},
                {"case", profiled.case_id},
                {"variant", variant_name(profiled.variant)},
                {"device", profiled.device},
                {"executed", profiled.executes},
                {"dropped", profiled.recorded.dropped}};
  if (!trace.cut.empty()) about["cut"] = trace.cut;
  trace.text = text(R"({"displayTimeUnit":"ns","otherData":)", about.dump(),
                    ",\n\"traceEvents\":[\n", named);
  for (const Piece& piece : pieces) trace.text += piece.lines + ",\n";
  trace.text += text(R"({"ph":"M","pid":)", host,
                     R"(,"tid":0,"name":"process_sort_index","args":{"sort_index":0}})", "\n]}\n");
  return trace;
}

}  // namespace holdfast
