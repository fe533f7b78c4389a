// SPDX-License-Identifier: Apache-2.0
#include "harness/profile/profile.hpp"

#include <algorithm>
#include <numeric>

namespace holdfast {
namespace {

constexpr std::size_t gaps_kept = 10;

// The timed slices of one window as they began on the device, each with its step.
struct TimedSlice {
  const DeviceSlice* slice = nullptr;
  std::size_t step = 0;
};

struct DeviceTime {
  double busy = 0, span = 0;
  std::vector<double> step_seconds = {};
  std::vector<Gap> gaps = {};
};

// A step lasts until the next one begins on the device, the last of a window until its own end:
// idle time between two steps belongs to the first of them.
DeviceTime device_time(const std::vector<TimedSlice>& slices) {
  DeviceTime time;
  if (slices.empty()) return time;
  double done = *slices.front().slice->begin;
  double step_begin = done;
  const DeviceSlice* last = nullptr;
  std::size_t step = slices.front().step;
  for (const auto& [slice, its_step] : slices) {
    if (its_step > step) {  // a copy for the next step may begin before this one ends
      time.step_seconds.push_back(*slice->begin - step_begin);
      step_begin = *slice->begin;
      step = its_step;
    }
    if (last && *slice->begin > done)
      time.gaps.push_back({.after = last->name,
                           .before = slice->name,
                           .seconds = *slice->begin - done,
                           .at = done});
    time.busy += std::max(0., *slice->end - std::max(*slice->begin, done));
    if (!last || *slice->end > done) last = slice;
    done = std::max(done, *slice->end);
  }
  time.step_seconds.push_back(done - step_begin);
  time.span = done - *slices.front().slice->begin;
  return time;
}

std::vector<std::vector<TimedSlice>> by_window(const Profiled& profiled, const StepFinder& finder) {
  std::vector<std::size_t> window_of;
  for (std::size_t w = 0; w < profiled.windows.size(); ++w)
    window_of.insert(window_of.end(), profiled.windows[w].steps.size(), w);
  std::vector<std::vector<TimedSlice>> windows(profiled.windows.size());
  for (const DeviceSlice& slice : profiled.recorded.slices)
    if (const auto step = finder.step_of(slice.activity); step && slice.begin && slice.end)
      windows[window_of[*step]].push_back({&slice, *step});
  for (std::vector<TimedSlice>& window : windows)
    std::stable_sort(window.begin(), window.end(), [](const TimedSlice& a, const TimedSlice& b) {
      return *a.slice->begin < *b.slice->begin;
    });
  return windows;
}

void read_device(const Profiled& profiled, const StepFinder& finder, Profile& profile) {
  double busy = 0, span = 0;
  const auto windows = by_window(profiled, finder);
  for (std::size_t w = 0; w < windows.size(); ++w) {
    DeviceTime time = device_time(windows[w]);
    busy += time.busy;
    span += time.span;
    profile.step_seconds.insert(profile.step_seconds.end(), time.step_seconds.begin(),
                                time.step_seconds.end());
    profile.gaps.insert(profile.gaps.end(), time.gaps.begin(), time.gaps.end());
    if (time.span > 0) profile.windows[w].busy_fraction = time.busy / time.span;
  }
  if (span > 0) profile.busy_fraction = busy / span;
  std::stable_sort(profile.gaps.begin(), profile.gaps.end(),
                   [](const Gap& a, const Gap& b) { return a.seconds > b.seconds; });
  if (profile.gaps.size() > gaps_kept) profile.gaps.resize(gaps_kept);
}

std::map<std::string, Transfer> transfers(const Profiled& profiled, const StepFinder& finder) {
  const std::map<Activity::Kind, std::string> ways = {{Activity::Kind::upload, "h2d"},
                                                      {Activity::Kind::download, "d2h"},
                                                      {Activity::Kind::copy, "d2d"}};
  std::map<std::string, Transfer> sums = {{"h2d", {}}, {"d2h", {}}, {"d2d", {}}};
  for (const DeviceSlice& slice : profiled.recorded.slices) {
    const auto way = ways.find(slice.kind);
    if (way == ways.end() || !finder.step_of(slice.activity)) continue;
    Transfer& sum = sums[way->second];
    ++sum.count;
    sum.bytes += slice.bytes;
    if (slice.begin && slice.end)
      sum.seconds = sum.seconds.value_or(0) + (*slice.end - *slice.begin);
  }
  return sums;
}

bool any_timed(const std::vector<DeviceSlice>& slices) {
  return std::any_of(slices.begin(), slices.end(),
                     [](const DeviceSlice& slice) { return slice.begin.has_value(); });
}

// Several shapes of one name count as one row.
void find_top(Profile& profile) {
  std::map<std::string, double> by_name;
  for (const Operation& operation : profile.operations)
    if (operation.fraction) by_name[operation.name] += *operation.fraction;
  for (const auto& [name, fraction] : by_name) {
    if (profile.top_fraction && fraction <= *profile.top_fraction) continue;
    profile.top_operation = name;
    profile.top_fraction = fraction;
  }
}

}  // namespace

void Seconds::add(double seconds) {
  least = count == 0 ? seconds : std::min(least, seconds);
  most = count == 0 ? seconds : std::max(most, seconds);
  total += seconds;
  ++count;
}

std::optional<double> Profile::mean_step_seconds() const {
  if (step_seconds.empty()) return {};
  return std::accumulate(step_seconds.begin(), step_seconds.end(), 0.) /
         static_cast<double>(step_seconds.size());
}

Profile analyse(const Profiled& profiled) {
  const StepFinder finder(profiled.windows);
  const bool host = !profiled.architecture;
  Profile profile;
  if (host)
    profile.clock = "host";
  else if (profiled.executes && any_timed(profiled.recorded.slices))
    profile.clock = "cupti";

  for (const StepWindow& window : profiled.windows) {
    ProfiledWindow& row = profile.windows.emplace_back(
        ProfiledWindow{.first_step = window.first_step, .steps = window.steps.size()});
    if (window.seconds && !window.steps.empty())
      row.mean_step_seconds = *window.seconds / static_cast<double>(window.steps.size());
  }
  if (host)
    for (const ProfiledStep* step : finder.steps())
      profile.step_seconds.push_back(step->end - step->begin);
  else
    read_device(profiled, finder, profile);
  profile.operations = operations(profiled, finder);
  find_top(profile);
  profile.scopes = scope_totals(profiled, finder);
  profile.transfers = transfers(profiled, finder);
  profile.timeline = timeline(profiled.recorded.activities);
  return profile;
}

}  // namespace holdfast
