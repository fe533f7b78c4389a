// SPDX-License-Identifier: Apache-2.0
// Names of devices, tiers and metrics, and what they imply.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast {

// "host", "cuda" or "cuda-dry": the part of a device's name, such as "cuda-dry:sm_90", that decides
// which cases and metrics it has.
inline std::string device_kind(std::string_view device) {
  return std::string(device.substr(0, device.find(':')));
}

// "cuda-dry-sm_90" of "cuda-dry:sm_90": a device's name as part of a file's name, and the device
// class of a device that executes nothing.
inline std::string device_file_name(std::string device) {
  std::ranges::replace(device, ':', '-');
  return device;
}

// The GPU architectures that are compiled for, as in "cuda-dry:sm_90"; the run-time layer's table
// has a row for each (runtime/device/architecture.cpp).
inline constexpr int architectures[] = {75, 80, 86, 89, 90, 100, 120};

// The oldest one that suites run on: kernels use matrix units that those before lack.
inline constexpr int oldest_of_suites = 80;

// Smallest first: smoke is part of gate, gate of full.
inline const std::vector<std::string_view> tiers = {"smoke", "gate", "full"};

inline bool is_tier(std::string_view name) {
  return std::find(tiers.begin(), tiers.end(), name) != tiers.end();
}

// Whether a run of one tier includes the cases of another or the same one; both must be in `tiers`.
inline bool tier_includes(std::string_view run_tier, std::string_view tier) {
  return std::find(tiers.begin(), tiers.end(), tier) <=
         std::find(tiers.begin(), tiers.end(), run_tier);
}

// "s" for time_s, "B" for peak_bytes and bytes_in_use, "B/s" for read_bytes_per_s, "1/s" for
// tokens_per_s; "1", a plain number, for any other name, and for ratios: f64_over_f32_bytes.
inline std::string unit_of_name(const std::string& metric) {
  if (metric.find("_over_") != std::string::npos) return "1";
  if (metric == "bytes_per_s" || metric.ends_with("_bytes_per_s")) return "B/s";
  if (metric.ends_with("_per_s")) return "1/s";
  if (metric.ends_with("_s")) return "s";
  const bool holds_the_word = ('_' + metric + '_').find("_bytes_") != std::string::npos;
  return holds_the_word ? "B" : "1";
}

}  // namespace holdfast
