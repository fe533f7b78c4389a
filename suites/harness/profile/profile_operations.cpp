// SPDX-License-Identifier: Apache-2.0
// The tables of a profile: operations, scopes, memory over time.
#include <algorithm>
#include <tuple>

#include "harness/profile/profile.hpp"

namespace holdfast {
namespace {

// One row per name, kind and shape, in the order of first appearance until they are sorted.
class Rows {
 public:
  Operation& row(const std::string& name, const std::string& kind, const LaunchShape& shape) {
    const auto [known, fresh] = index_.try_emplace({name, kind, shape}, rows_.size());
    if (fresh) rows_.push_back({.name = name, .kind = kind});
    return rows_[known->second];
  }

  // Fractions relative to `whole` seconds, or if that is empty to the sum of all timed operations.
  std::vector<Operation> take(std::optional<double> whole) {
    if (!whole) {
      double sum = 0;
      for (const Operation& row : rows_) sum += row.seconds ? row.seconds->total : 0;
      whole = sum;
    }
    for (Operation& row : rows_)
      if (row.seconds && *whole > 0) row.fraction = row.seconds->total / *whole;
    const auto total = [](const Operation& row) { return row.seconds ? row.seconds->total : 0; };
    std::stable_sort(rows_.begin(), rows_.end(), [&](const Operation& a, const Operation& b) {
      return std::tuple(total(b), b.count) < std::tuple(total(a), a.count);
    });
    return std::move(rows_);
  }

 private:
  std::map<std::tuple<std::string, std::string, LaunchShape>, std::size_t> index_ = {};
  std::vector<Operation> rows_ = {};
};

void add_seconds(Operation& row, double seconds) {
  if (!row.seconds) row.seconds.emplace();
  row.seconds->add(seconds);
}

std::vector<Operation> device_operations(const Profiled& profiled, const StepFinder& steps) {
  Rows rows;
  for (const DeviceSlice& slice : profiled.recorded.slices) {
    if (!steps.step_of(slice.activity)) continue;
    Operation& row = rows.row(slice.name, operation_kind(slice), slice.shape);
    ++row.count;
    if (slice.begin && slice.end) add_seconds(row, *slice.end - *slice.begin);
    if (slice.function && !row.kernel)
      row.kernel = fit(*profiled.architecture, *slice.function, slice.shape);
  }
  return rows.take({});
}

std::string library_kind(const std::string& name) {
  return name.starts_with("gemm") ? "gemm" : "fft";
}

// A scope counts with its self time: scopes and library calls inside have their own rows. A step
// without scopes is an operation itself.
std::vector<Operation> host_operations(const Profiled& profiled, const StepFinder& steps) {
  const std::vector<Activity>& activities = profiled.recorded.activities;
  const std::vector<ScopeRecord>& scopes = profiled.recorded.scopes;
  const std::vector<int> parent = parents(scopes);
  Rows rows;
  double whole = 0;
  for (const ProfiledStep* step : steps.steps()) {
    whole += step->end - step->begin;
    std::map<int, double> inside;  // seconds by scope
    for (std::size_t i = step->first_activity; i < step->end_activity; ++i) {
      const Activity& activity = activities[i];
      if (activity.kind != Activity::Kind::library) continue;
      Operation& row = rows.row(activity.name, library_kind(activity.name), {});
      ++row.count;
      add_seconds(row, activity.end - activity.begin);
      inside[activity.scope] += activity.end - activity.begin;
    }
    for (std::size_t i = step->first_scope; i < step->end_scope; ++i)
      inside[parent[i]] += scopes[i].end - scopes[i].begin;
    const auto add = [&](const std::string& name, double seconds, int scope) {
      Operation& row = rows.row(name, "scope", {});
      ++row.count;
      add_seconds(row, std::max(0., seconds - inside[scope]));
    };
    if (step->first_scope == step->end_scope) add("step", step->end - step->begin, -1);
    for (std::size_t i = step->first_scope; i < step->end_scope; ++i)
      add(scopes[i].name, scopes[i].end - scopes[i].begin, static_cast<int>(i));
  }
  return rows.take(whole);
}

}  // namespace

std::string operation_kind(const DeviceSlice& slice) {
  switch (slice.kind) {
    case Activity::Kind::kernel:
      return std::string(name(slice.function ? slice.function->kind : KernelKind::fused));
    case Activity::Kind::library:
      return library_kind(slice.name);
    default:
      return std::string(name(slice.kind));
  }
}

KernelFit fit(const Architecture& architecture, const Function& function,
              const LaunchShape& shape) {
  const Fit found = holdfast::fit(
      architecture, function.registers,
      function.shared_bytes + static_cast<std::int64_t>(shape.shared_bytes),
      static_cast<int>(shape.block.volume()), static_cast<double>(shape.grid.volume()));
  return {.shape = shape,
          .shared_bytes = function.shared_bytes,
          .registers = function.registers,
          .spill_bytes = function.spill_bytes,
          .occupancy = found.occupancy,
          .waves = found.waves};
}

std::vector<Operation> operations(const Profiled& profiled, const StepFinder& steps) {
  return profiled.architecture ? device_operations(profiled, steps)
                               : host_operations(profiled, steps);
}

std::vector<ScopeTotal> scope_totals(const Profiled& profiled, const StepFinder& steps) {
  const Recorded& recorded = profiled.recorded;
  const std::vector<std::string> path = paths(recorded.scopes);
  const std::vector<int> parent = parents(recorded.scopes);
  std::vector<ScopeTotal> rows;
  std::map<std::string, std::size_t> index;
  const auto row = [&](int scope) -> ScopeTotal& {
    return rows[index.at(path[static_cast<std::size_t>(scope)])];
  };

  double whole = 0;
  for (const ProfiledStep* step : steps.steps()) {
    whole += step->end - step->begin;
    for (std::size_t i = step->first_scope; i < step->end_scope; ++i) {
      const ScopeRecord& scope = recorded.scopes[i];
      const double seconds = scope.end - scope.begin;
      const auto [known, fresh] = index.try_emplace(path[i], rows.size());
      if (fresh) rows.push_back({.path = path[i], .depth = scope.depth});
      ScopeTotal& total = rows[known->second];
      ++total.count;
      total.seconds += seconds;
      total.self_seconds += seconds;
      if (parent[i] >= static_cast<int>(step->first_scope)) row(parent[i]).self_seconds -= seconds;
    }
  }
  const auto each_around = [&](int scope, const ProfiledStep& step, const auto& tell) {
    for (; scope >= static_cast<int>(step.first_scope);
         scope = parent[static_cast<std::size_t>(scope)])
      tell(scope);
  };
  for (const DeviceSlice& slice : recorded.slices) {
    const auto step = steps.step_of(slice.activity);
    if (!step) continue;
    const int innermost =
        slice.scope >= 0 ? slice.scope : recorded.activities[slice.activity].scope;
    each_around(innermost, *steps.steps()[*step], [&](int scope) {
      row(scope).launches += is_launch(slice);
      // The host's clock cannot time the parts of a replay; the device's can.
      if (!recorded.scopes[static_cast<std::size_t>(scope)].replayed || !slice.begin) return;
      row(scope).seconds += *slice.end - *slice.begin;
      if (scope == innermost) row(scope).self_seconds += *slice.end - *slice.begin;
    });
  }
  for (ScopeTotal& total : rows) {
    total.self_seconds = std::max(0., total.self_seconds);  // differences may sum to less than zero
    if (whole > 0) total.fraction = total.seconds / whole;
  }
  return rows;
}

// Each interval keeps its maximum and its minimum, to preserve the shape.
std::vector<MemoryPoint> timeline(const std::vector<Activity>& activities, std::size_t most) {
  std::vector<MemoryPoint> all;
  for (const Activity& activity : activities) {
    const bool release = activity.kind == Activity::Kind::release;
    if (!release && activity.kind != Activity::Kind::allocate) continue;
    all.push_back({.at = activity.end,
                   .bytes = activity.live_bytes,
                   .delta = release ? -activity.bytes : activity.bytes,
                   .site = activity.name});
  }
  if (all.size() <= most) return all;

  const auto lower = [](const MemoryPoint& a, const MemoryPoint& b) { return a.bytes < b.bytes; };
  const std::size_t stretches = (most - 2) / 2, inner = all.size() - 2;
  std::vector<MemoryPoint> kept = {all.front()};
  for (std::size_t i = 0; i < stretches; ++i) {
    const auto begin = all.begin() + 1 + static_cast<std::ptrdiff_t>(inner * i / stretches);
    const auto end = all.begin() + 1 + static_cast<std::ptrdiff_t>(inner * (i + 1) / stretches);
    auto low = std::min_element(begin, end, lower), high = std::max_element(begin, end, lower);
    if (high < low) std::swap(low, high);
    kept.push_back(*low);
    if (high != low) kept.push_back(*high);
  }
  kept.push_back(all.back());
  return kept;
}

}  // namespace holdfast
