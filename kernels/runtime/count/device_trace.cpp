// SPDX-License-Identifier: Apache-2.0
#include "runtime/count/device_trace.hpp"

#include <algorithm>
#include <map>
#include <span>
#include <unordered_map>
#include <utility>

namespace holdfast {
namespace {

using Kind = Activity::Kind;
using Slices = std::span<DeviceSlice>;
using Records = std::span<const DeviceRecord*>;

constexpr std::uint64_t unknown = static_cast<std::uint64_t>(-1);

// A correlation claimed by two verbs belongs to neither.
std::unordered_map<std::uint32_t, std::uint64_t> activities_by_correlation(
    const std::vector<Correlation>& correlations) {
  std::unordered_map<std::uint32_t, std::uint64_t> result;
  for (const auto& [correlation, verb] : correlations) {
    const auto [known, first] = result.emplace(correlation, verb);
    if (!first && known->second != verb) known->second = unknown;
  }
  return result;
}

struct Owned {
  std::uint64_t activity = 0;
  const DeviceRecord* record = nullptr;
};

// Grouped by activity, each group in the device's order of execution.
std::vector<Owned> by_activity(const DeviceRecords& records) {
  const auto owners = activities_by_correlation(records.correlations);
  std::vector<Owned> result;
  result.reserve(records.work.size());
  for (const auto& record : records.work)
    if (const auto owner = owners.find(record.correlation);
        owner != owners.end() && owner->second != unknown && record.timed())
      result.push_back({owner->second, &record});
  std::stable_sort(result.begin(), result.end(), [](const Owned& a, const Owned& b) {
    return std::pair(a.activity, a.record->begin) < std::pair(b.activity, b.record->begin);
  });
  return result;
}

// Whether the record can belong to the slice. A library call may be anything.
bool agree(const DeviceSlice& slice, const DeviceRecord& record) {
  switch (slice.kind) {
    case Kind::kernel:
      return record.kind == DeviceRecord::Kind::kernel && slice.function && record.name &&
             *record.name == slice.function->name;
    case Kind::fill:
      return record.kind == DeviceRecord::Kind::fill;
    case Kind::copy:
      return record.kind == DeviceRecord::Kind::copy;
    case Kind::upload:
      return record.kind == DeviceRecord::Kind::upload;
    case Kind::download:
      return record.kind == DeviceRecord::Kind::download;
    default:
      return true;
  }
}

// Makes the slice span its records, of which there is at least one.
void fold(DeviceSlice& slice, Records records, const ClockMap& clock) {
  std::int64_t end = 0;
  int kernels = 0;
  for (const auto* record : records) {
    end = std::max(end, record->end);
    kernels += record->kind == DeviceRecord::Kind::kernel;
  }
  slice.begin = clock.seconds(records.front()->begin);
  slice.end = clock.seconds(end);
  slice.kernels = std::max(kernels, 1);
}

// Places one slice: all records of its verb that agree. The first launch of a kernel may come with
// copies of its module's constants, which are not part of it.
void place_one(DeviceSlice& slice, Records records, const ClockMap& clock) {
  const auto end = std::stable_partition(records.begin(), records.end(),
                                         [&](const auto* record) { return agree(slice, *record); });
  const Records own(records.begin(), end);
  const bool kernel_twice = slice.kind == Kind::kernel && own.size() > 1;
  if (!own.empty() && !kernel_twice) fold(slice, own, clock);
}

// Whether the records are exactly the nodes of a replay, each with its number of records.
bool match(Slices slices, Records records) {
  std::size_t next = 0;
  for (const auto& slice : slices)
    for (int i = 0; i < slice.kernels; ++i, ++next)
      if (next == records.size() || !agree(slice, *records[next])) return false;
  return next == records.size();
}

// With records missing, places those that occur as often among the records as among the nodes.
void place_unambiguous(Slices slices, Records records, const ClockMap& clock) {
  std::map<std::pair<Kind, const Function*>, std::vector<DeviceSlice*>> alike;
  for (auto& slice : slices)
    if (slice.kind != Kind::library) alike[{slice.kind, slice.function}].push_back(&slice);
  for (const auto& [what, nodes] : alike) {
    std::vector<const DeviceRecord*> candidates;
    for (const auto* record : records)
      if (agree(*nodes.front(), *record)) candidates.push_back(record);
    if (nodes.size() != candidates.size()) continue;
    for (std::size_t i = 0; i < nodes.size(); ++i)
      fold(*nodes[i], Records(candidates).subspan(i, 1), clock);
  }
}

void place_replay(Slices slices, Records records, const ClockMap& clock) {
  if (!match(slices, records)) return place_unambiguous(slices, records, clock);
  for (std::size_t next = 0; auto& slice : slices) {
    const auto count = static_cast<std::size_t>(slice.kernels);
    if (count > 0) fold(slice, records.subspan(next, count), clock);
    next += count;
  }
}

// Peak of what was allocated during the recording; releases of older memory are ignored.
std::int64_t peak_of(std::vector<DeviceMemoryEvent> events) {
  std::stable_sort(events.begin(), events.end(),
                   [](const auto& a, const auto& b) { return a.at < b.at; });
  std::unordered_map<std::uint64_t, std::int64_t> held;
  std::int64_t live = 0, peak = 0;
  for (const auto& event : events) {
    const auto known = held.find(event.address);
    if (known != held.end()) {
      live -= known->second;
      held.erase(known);
    }
    if (event.released) continue;
    held[event.address] = event.bytes;
    live += event.bytes;
    peak = std::max(peak, live);
  }
  return peak;
}

}  // namespace

ClockMap::ClockMap(const ClockPair& first, const ClockPair& last) : origin_(first) {
  constexpr std::int64_t least_ticks = 1'000'000;  // 1 ms: below it read jitter dominates
  if (last.device - first.device >= least_ticks)
    seconds_per_tick_ =
        (last.seconds - first.seconds) / static_cast<double>(last.device - first.device);
}

double ClockMap::seconds(std::int64_t device) const {
  return origin_.seconds + static_cast<double>(device - origin_.device) * seconds_per_tick_;
}

const std::string* DeviceRecords::named(std::string_view name) {
  const auto known = names.find(name);
  return &*(known != names.end() ? known : names.emplace(name).first);
}

std::size_t place(std::vector<DeviceSlice>& slices, const DeviceRecords& records) {
  const ClockMap clock(records.first, records.last);
  const auto owned = by_activity(records);
  std::size_t without = 0, next = 0;
  for (std::size_t begin = 0, end = 0; begin < slices.size(); begin = end) {
    const auto activity = slices[begin].activity;
    while (end < slices.size() && slices[end].activity == activity) ++end;
    const Slices group = std::span(slices).subspan(begin, end - begin);

    std::vector<const DeviceRecord*> of_group;
    while (next < owned.size() && owned[next].activity < activity) ++next;
    for (; next < owned.size() && owned[next].activity == activity; ++next)
      of_group.push_back(owned[next].record);
    if (group.size() == 1)
      place_one(group.front(), of_group, clock);
    else
      place_replay(group, of_group, clock);
    without += std::count_if(group.begin(), group.end(), [](auto& slice) { return !slice.begin; });
  }
  return without;
}

DeviceCounts counts(const DeviceRecords& records) {
  DeviceCounts result{.modules_loaded = records.modules_loaded, .jit_runs = records.jit_runs};
  for (const auto& record : records.work) {
    switch (record.kind) {
      case DeviceRecord::Kind::kernel:
        ++result.kernels;
        break;
      case DeviceRecord::Kind::upload:
        result.copied_bytes_h2d += record.bytes;
        break;
      case DeviceRecord::Kind::download:
        result.copied_bytes_d2h += record.bytes;
        break;
      case DeviceRecord::Kind::copy:
        result.copied_bytes_d2d += record.bytes;
        break;
      case DeviceRecord::Kind::fill:
        break;
    }
  }
  result.memory_peak_bytes = peak_of(records.memory);
  return result;
}

}  // namespace holdfast
