// SPDX-License-Identifier: Apache-2.0
#include "harness/profile/profile_writer.hpp"

#include <algorithm>
#include <cstdio>

#include "harness/case/profile_options.hpp"
#include "runtime/base/error.hpp"

namespace holdfast {
namespace {

using nlohmann::json;

template <class Value>
json nullable(const std::optional<Value>& value) {
  return value ? json(*value) : json(nullptr);
}

json extent(const Dim3& dim) {
  return {dim.x, dim.y, dim.z};
}

// Whole numbers are written as integers: four launches per step are 4, not 4.0.
json per_step(std::int64_t count, std::size_t steps) {
  const auto divisor = static_cast<std::int64_t>(steps);
  if (count % divisor == 0) return count / divisor;
  return static_cast<double>(count) / static_cast<double>(divisor);
}

json overview_json(const Profiled& profiled, const Profile& profile) {
  const Gap* longest = profile.gaps.empty() ? nullptr : &profile.gaps.front();
  json out = {
      {"step_s", profile.step_seconds},
      {"mean_step_s", nullable(profile.mean_step_seconds())},
      {"busy_fraction", nullable(profile.busy_fraction)},
      {"idle_fraction", profile.busy_fraction ? json(1 - *profile.busy_fraction) : json(nullptr)},
      {"max_gap_s", longest                 ? json(longest->seconds)
                    : profile.busy_fraction ? json(0)
                                            : json(nullptr)},
      {"max_gap_between", longest ? json({longest->after, longest->before}) : json(nullptr)},
      {"declared_h2d_bytes", nullable(profiled.declared_upload_bytes)},
      {"top_op", nullable(profile.top_operation)},
      {"top_op_fraction", nullable(profile.top_fraction)}};
  for (const auto& [name, member, timed, steady, shown] : counter_table)
    if (shown) out[std::string(name)] = per_step(profiled.counts.*member, profiled.step_count());
  return out;
}

json operation_json(const Operation& row) {
  const auto& kernel = row.kernel;
  const auto& seconds = row.seconds;
  const auto of_kernel = [&](auto read) { return kernel ? json(read(*kernel)) : json(nullptr); };
  const auto of_seconds = [&](auto read) { return seconds ? json(read(*seconds)) : json(nullptr); };
  return {
      {"name", row.name},
      {"kind", row.kind},
      {"count", row.count},
      {"total_s", of_seconds([](const Seconds& s) { return s.total; })},
      {"mean_s",
       of_seconds([](const Seconds& s) { return s.total / static_cast<double>(s.count); })},
      {"min_s", of_seconds([](const Seconds& s) { return s.least; })},
      {"max_s", of_seconds([](const Seconds& s) { return s.most; })},
      {"fraction", nullable(row.fraction)},
      {"grid", of_kernel([](const KernelFit& k) { return extent(k.shape.grid); })},
      {"block", of_kernel([](const KernelFit& k) { return extent(k.shape.block); })},
      {"dynamic_shared_bytes", of_kernel([](const KernelFit& k) { return k.shape.shared_bytes; })},
      {"shared_bytes", of_kernel([](const KernelFit& k) { return k.shared_bytes; })},
      {"registers", of_kernel([](const KernelFit& k) { return k.registers; })},
      {"spill_bytes", of_kernel([](const KernelFit& k) { return k.spill_bytes; })},
      {"occupancy", of_kernel([](const KernelFit& k) { return k.occupancy; })},
      {"waves", of_kernel([](const KernelFit& k) { return k.waves; })}};
}

json scope_json(const ScopeTotal& row) {
  return {{"path", row.path},           {"depth", row.depth},
          {"count", row.count},         {"total_s", row.seconds},
          {"self_s", row.self_seconds}, {"fraction", nullable(row.fraction)},
          {"launches", row.launches}};
}

json transfer_json(const Transfer& sum) {
  json rate;
  if (sum.seconds && *sum.seconds > 0) rate = static_cast<double>(sum.bytes) / *sum.seconds;
  return {{"count", sum.count},
          {"bytes", sum.bytes},
          {"total_s", nullable(sum.seconds)},
          {"bytes_per_s", rate}};
}

json memory_json(const Profiled& profiled, const Profile& profile) {
  json points = json::array();
  for (const MemoryPoint& point : profile.timeline)
    points.push_back(
        {{"s", point.at}, {"bytes", point.bytes}, {"delta", point.delta}, {"site", point.site}});
  json by_site = json::object();
  for (const auto& [site, bytes] : profiled.peak_by_site) by_site[site] = bytes;
  return {{"peak_bytes", profiled.peak_bytes},
          {"peak_by_site", by_site},
          {"live_bytes_end", profiled.live_bytes},
          {"device_total_bytes", nullable(profiled.device_memory_bytes)},
          {"timeline", points}};
}

json compile_json(const Activity& activity) {
  const Compiled& compiled = *activity.compiled;
  int registers = 0, spills = 0;
  for (const Function& function : compiled.functions) {
    registers = std::max(registers, function.registers);
    spills += function.spill_bytes;
  }
  return {{"program", compiled.source_name},
          {"reason", compiled.reason},
          {"steady", activity.steady},
          {"from_cache", compiled.from_cache},
          {"trace_s", compiled.seconds.trace},
          {"lower_s", compiled.seconds.lower},
          {"compile_s", compiled.seconds.compile},
          {"load_s", compiled.seconds.load},
          {"kernels", compiled.functions.size()},
          {"registers_max", registers},
          {"spill_bytes", spills}};
}

json device_counts_json(const std::optional<DeviceCounts>& counts) {
  if (!counts) return nullptr;
  return {{"kernels", counts->kernels},
          {"copied_bytes_h2d", counts->copied_bytes_h2d},
          {"copied_bytes_d2h", counts->copied_bytes_d2h},
          {"copied_bytes_d2d", counts->copied_bytes_d2d},
          {"modules_loaded", counts->modules_loaded},
          {"jit_runs", counts->jit_runs},
          {"memory_peak_bytes", counts->memory_peak_bytes}};
}

template <class Row>
json rows_json(const std::vector<Row>& rows, json (*one)(const Row&)) {
  json out = json::array();
  for (const Row& row : rows) out.push_back(one(row));
  return out;
}

json gap_json(const Gap& gap) {
  return {{"after", gap.after}, {"before", gap.before}, {"seconds", gap.seconds}, {"at_s", gap.at}};
}

json window_json(const ProfiledWindow& window) {
  return {{"first_step", window.first_step},
          {"steps", window.steps},
          {"mean_step_s", nullable(window.mean_step_seconds)},
          {"busy_fraction", nullable(window.busy_fraction)}};
}

// "1.20 ms": three digits, with a readable unit.
std::string shown(double seconds) {
  constexpr std::pair<double, const char*> units[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}};
  std::pair<double, const char*> unit = {1e-9, "ns"};
  for (const auto& each : units)
    if (seconds >= each.first && each.first > unit.first) unit = each;
  char words[32];
  std::snprintf(words, sizeof words, "%.3g %s", seconds / unit.first, unit.second);
  return words;
}

std::string line(const char* format, const auto&... values) {
  char words[256];
  std::snprintf(words, sizeof words, format, values...);
  return words;
}

}  // namespace

json profile_json(const Profiled& profiled, const Profile& profile, const std::string& trace) {
  const Recorded& recorded = profiled.recorded;
  json compiles = json::array(), transfers = json::object();
  for (const Activity& activity : recorded.activities)
    if (activity.kind == Activity::Kind::compile && activity.compiled)
      compiles.push_back(compile_json(activity));
  for (const auto& [way, sum] : profile.transfers) transfers[way] = transfer_json(sum);
  return {{"schema", "holdfast-profile/1"},
          {"suite", profiled.suite},
          {"case", profiled.case_id},
          {"variant", variant_name(profiled.variant)},
          {"device", profiled.device},
          {"device_class", profiled.device_class},
          {"device_name", profiled.device_name},
          {"executed", profiled.executes},
          {"clock", profile.clock},
          {"silence", nullable(recorded.silence)},
          {"steps", profiled.step_count()},
          {"dropped", recorded.dropped},
          {"overview", overview_json(profiled, profile)},
          {"ops", rows_json(profile.operations, operation_json)},
          {"scopes", rows_json(profile.scopes, scope_json)},
          {"transfers", transfers},
          {"gaps", rows_json(profile.gaps, gap_json)},
          {"memory", memory_json(profiled, profile)},
          {"compiles", compiles},
          {"first_call_s", profiled.first_call_seconds},
          {"windows", rows_json(profile.windows, window_json)},
          {"work", {{"flops", profiled.work.flops}, {"bytes", profiled.work.bytes}}},
          {"floor_s", nullable(profiled.floor_seconds)},
          {"kernels_floor_s", nullable(profiled.kernels_floor_seconds)},
          {"device_counts", device_counts_json(recorded.device_counts)},
          {"trace", trace.empty() ? json(nullptr) : json(trace)}};
}

std::string profile_text(const Profiled& profiled, const Profile& profile) {
  constexpr std::size_t operations_shown = 8;
  const double steps = static_cast<double>(profiled.step_count());
  std::string out =
      text(profiled.case_id, " ", variant_name(profiled.variant), " on ", profiled.device, "\n");
  if (const auto mean = profile.mean_step_seconds())
    out += text("  step      ", shown(*mean), " on average of ", profile.step_seconds.size());
  else
    out += text("  step      ", profiled.step_count(), " profiled, ",
                profiled.executes ? "not timed" : "not executed");
  if (profile.busy_fraction) out += line(", device busy %.1f %%", 100 * *profile.busy_fraction);
  if (profiled.architecture)
    out += line(", %.6g launches", static_cast<double>(profiled.counts.launches) / steps);
  out += "\n";
  if (profiled.recorded.silence) out += text("  silence   ", *profiled.recorded.silence, "\n");
  out += line("  memory    %lld bytes at the peak", static_cast<long long>(profiled.peak_bytes));
  for (const auto& [site, bytes] : profiled.peak_by_site) out += text(", ", site, " ", bytes);
  out += text("\n  first call ", shown(profiled.first_call_seconds), "\n");
  for (std::size_t i = 0; i < std::min(operations_shown, profile.operations.size()); ++i) {
    const Operation& row = profile.operations[i];
    out += line("  %8.6g x ", static_cast<double>(row.count) / steps);
    out += row.fraction ? line("%5.1f %%  ", 100 * *row.fraction) : std::string();
    out += text(row.name, " (", row.kind, ")");
    if (row.seconds)
      out += text(", ", shown(row.seconds->total / static_cast<double>(row.seconds->count)));
    if (row.kernel)
      out += line(", occupancy %.2f, %d registers, %.3g waves", row.kernel->occupancy,
                  row.kernel->registers, row.kernel->waves);
    out += "\n";
  }
  return out;
}

}  // namespace holdfast
