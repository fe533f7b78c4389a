// SPDX-License-Identifier: Apache-2.0
// Names of devices and tiers, and what they say.
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

// Smallest first: smoke is part of gate, gate of full.
inline const std::vector<std::string_view> tiers = {"smoke", "gate", "full"};

inline bool is_tier(std::string_view name) {
  return std::find(tiers.begin(), tiers.end(), name) != tiers.end();
}

// Whether a run of a tier includes the cases of another, or of itself; both are of `tiers`.
inline bool tier_includes(std::string_view run_tier, std::string_view tier) {
  return std::find(tiers.begin(), tiers.end(), tier) <=
         std::find(tiers.begin(), tiers.end(), run_tier);
}

}  // namespace holdfast
