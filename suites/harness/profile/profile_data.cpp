// SPDX-License-Identifier: Apache-2.0
#include "harness/profile/profile_data.hpp"

#include <algorithm>

#include "harness/case/profile_options.hpp"
#include "runtime/base/error.hpp"

namespace holdfast {
namespace {

void add(std::optional<DeviceCounts>& sum, const std::optional<DeviceCounts>& counts) {
  if (!counts) return;
  if (!sum) sum.emplace();
  sum->kernels += counts->kernels;
  sum->copied_bytes_h2d += counts->copied_bytes_h2d;
  sum->copied_bytes_d2h += counts->copied_bytes_d2h;
  sum->copied_bytes_d2d += counts->copied_bytes_d2d;
  sum->modules_loaded += counts->modules_loaded;
  sum->jit_runs += counts->jit_runs;
  sum->memory_peak_bytes = std::max(sum->memory_peak_bytes, counts->memory_peak_bytes);
}

void append(std::vector<WorkerTrack>& workers, const WorkerTrack& more, double offset) {
  auto known = std::ranges::find_if(workers, [&](const WorkerTrack& track) {
    return track.thread == more.thread && track.name == more.name;
  });
  if (known == workers.end()) known = workers.emplace(known, more.thread, more.name);
  for (ScopeRecord scope : more.scopes) {
    scope.begin += offset;
    scope.end += offset;
    known->scopes.push_back(std::move(scope));
  }
}

}  // namespace

void append(Recorded& recorded, const Recording& recording, double offset) {
  const std::size_t first_activity = recorded.activities.size();
  const int first_scope = static_cast<int>(recorded.scopes.size());
  for (Activity activity : recording.activities()) {
    activity.begin += offset;
    activity.end += offset;
    if (activity.scope >= 0) activity.scope += first_scope;
    recorded.activities.push_back(std::move(activity));
  }
  for (DeviceSlice slice : recording.slices()) {
    slice.activity += first_activity;
    if (slice.scope >= 0) slice.scope += first_scope;
    if (slice.begin) *slice.begin += offset;
    if (slice.end) *slice.end += offset;
    recorded.slices.push_back(std::move(slice));
  }
  for (ScopeRecord scope : recording.scopes()) {
    scope.begin += offset;
    scope.end += offset;
    recorded.scopes.push_back(std::move(scope));
  }
  for (const WorkerTrack& worker : recording.workers()) append(recorded.workers, worker, offset);
  add(recorded.device_counts, recording.device_counts());
  recorded.dropped += recording.dropped();
  if (!recorded.silence) recorded.silence = recording.device_silence();
}

std::size_t Profiled::step_count() const {
  std::size_t count = 0;
  for (const StepWindow& window : windows) count += window.steps.size();
  return count;
}

std::string file_stem(const Profiled& profiled) {
  std::string stem = profiled.case_id;
  std::replace(stem.begin(), stem.end(), '/', '.');
  std::replace(stem.begin(), stem.end(), ':', '_');
  return text(stem, ".", variant_name(profiled.variant));
}

StepFinder::StepFinder(const std::vector<StepWindow>& windows) {
  for (const StepWindow& window : windows)
    for (const ProfiledStep& step : window.steps) steps_.push_back(&step);
}

std::optional<std::size_t> StepFinder::step_of(std::size_t activity) const {
  const auto after = std::upper_bound(
      steps_.begin(), steps_.end(), activity,
      [](std::size_t value, const ProfiledStep* step) { return value < step->first_activity; });
  if (after == steps_.begin() || activity >= (*std::prev(after))->end_activity) return {};
  return static_cast<std::size_t>(after - steps_.begin()) - 1;
}

bool is_launch(const DeviceSlice& slice) {
  return slice.kind == Activity::Kind::kernel || slice.kind == Activity::Kind::library;
}

std::vector<int> parents(const std::vector<ScopeRecord>& scopes) {
  std::vector<int> result, open;
  for (const ScopeRecord& scope : scopes) {
    open.resize(std::min(open.size(), static_cast<std::size_t>(scope.depth)));
    result.push_back(open.empty() ? -1 : open.back());
    open.push_back(static_cast<int>(result.size()) - 1);
  }
  return result;
}

std::vector<std::string> paths(const std::vector<ScopeRecord>& scopes) {
  const std::vector<int> parent = parents(scopes);
  std::vector<std::string> result;
  for (std::size_t i = 0; i < scopes.size(); ++i) {
    const int above = parent[i];
    result.push_back(above < 0
                         ? scopes[i].name
                         : text(result[static_cast<std::size_t>(above)], "/", scopes[i].name));
  }
  return result;
}

}  // namespace holdfast
