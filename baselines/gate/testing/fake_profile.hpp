// SPDX-License-Identifier: Apache-2.0
// Profile documents for tests and for the fake suite: a healthy one with the numbers of a real
// step, for tests to spoil.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

namespace holdfast::gate::toy {

using nlohmann::json;

// An operation that runs `count` times in 10 steps, for `mean_s` each on a device that executes.
inline json operation(const std::string& name, const std::string& kind, std::int64_t count,
                      double mean_s, double waves = 2) {
  const double total = mean_s * static_cast<double>(count);
  return {{"name", name},          {"kind", kind},     {"count", count},
          {"total_s", total},      {"mean_s", mean_s}, {"min_s", 0.9 * mean_s},
          {"max_s", 1.2 * mean_s}, {"fraction", 0.3},  {"grid", {264, 1, 1}},
          {"block", {256, 1, 1}},  {"registers", 70},  {"dynamic_shared_bytes", 0},
          {"shared_bytes", 26624}, {"spill_bytes", 0}, {"occupancy", 0.5},
          {"waves", waves}};
}

inline json compilation(const std::string& reason, bool steady) {
  return {{"program", "toy/optimized.cu"},
          {"reason", reason},
          {"steady", steady},
          {"from_cache", false},
          {"trace_s", 0.001},
          {"lower_s", 0.4},
          {"compile_s", 0.3},
          {"load_s", 0.002},
          {"kernels", 3},
          {"registers_max", 70},
          {"spill_bytes", 0}};
}

// Ten steps of 600 us on a GPU that is busy for 95 % of them, with three kernels and no copy.
inline json gpu_profile(const std::string& id = "toy/step/n:64/f64",
                        const std::string& variant = "optimized") {
  json made = json::parse(R"({
    "schema": "holdfast-profile/1", "suite": "toy", "device": "cuda", "device_class": "nvidia-h200",
    "device_name": "NVIDIA H200", "executed": true, "clock": "cupti", "silence": null, "steps": 10,
    "dropped": 0,
    "overview": {
      "step_s": [6.0e-4, 6.1e-4], "mean_step_s": 6.05e-4, "busy_fraction": 0.95,
      "idle_fraction": 0.05, "max_gap_s": 2e-6, "max_gap_between": ["stage", "edge"],
      "top_op": "stage", "top_op_fraction": 0.45, "launches": 12, "library_calls": 0,
      "graph_nodes": 0, "copies": 0, "syncs": 0, "h2d_bytes": 0, "declared_h2d_bytes": null,
      "d2h_bytes": 0, "allocations": 0, "programs": 0, "plans": 0},
    "scopes": [
      {"path": "step", "depth": 0, "count": 10, "total_s": 1e-4, "self_s": 4e-5, "fraction": 1,
       "launches": 120},
      {"path": "step/rhs", "depth": 1, "count": 40, "total_s": 6e-5, "self_s": 6e-5,
       "fraction": 0.6, "launches": 80}],
    "gaps": [{"after": "stage", "before": "edge", "seconds": 2e-6, "at_s": 0.01}],
    "memory": {
      "peak_bytes": 1177856, "peak_by_site": {"state": 681984, "metric": 495872},
      "live_bytes_end": 1177856, "device_total_bytes": 150754820096,
      "timeline": [{"s": 0.0, "bytes": 681984, "delta": 681984, "site": "state"}]},
    "first_call_s": 0.9,
    "windows": [{"first_step": 0, "steps": 10, "mean_step_s": 6.05e-4, "busy_fraction": 0.95}],
    "work": {"flops": 2.5e7, "bytes": 7.0e5}, "floor_s": 2e-4, "device_counts": null,
    "trace": null})");
  made["case"] = id;
  made["variant"] = variant;
  made["ops"] = {operation("stage", "fused", 40, 6.5e-5), operation("edge", "scatter", 40, 4.5e-5),
                 operation("advance", "fused", 40, 3.5e-5)};
  for (const char* way : {"h2d", "d2h", "d2d"})
    made["transfers"][way] = {
        {"count", 0}, {"bytes", 0}, {"total_s", nullptr}, {"bytes_per_s", nullptr}};
  made["compiles"] = json::array({compilation("first use", false)});
  return made;
}

// The same steps, counted and not executed.
inline json dry_profile(const std::string& id = "toy/step/n:64/f64",
                        const std::string& variant = "optimized") {
  json made = gpu_profile(id, variant);
  made["device"] = "cuda-dry:sm_90";
  made["device_class"] = "cuda-dry-sm_90";
  made["device_name"] = "dry sm_90";
  made["executed"] = false;
  made["clock"] = "none";
  made["floor_s"] = nullptr;
  made["gaps"] = json::array();
  made["windows"] = json::array();
  json& overview = made["overview"];
  overview["step_s"] = json::array();
  for (const char* name : {"mean_step_s", "busy_fraction", "idle_fraction", "max_gap_s",
                           "max_gap_between", "top_op", "top_op_fraction"})
    overview[name] = nullptr;
  for (json& op : made["ops"])
    for (const char* name : {"total_s", "mean_s", "min_s", "max_s", "fraction"}) op[name] = nullptr;
  made["memory"]["device_total_bytes"] = nullptr;
  return made;
}

}  // namespace holdfast::gate::toy
