// SPDX-License-Identifier: Apache-2.0
// Whether timings can be trusted, by what the device reported meanwhile.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace holdfast {

struct RunQuality {
  std::vector<std::string> reasons = {};                      // why it is invalid; empty if valid
  std::optional<double> sm_clock_hz = {}, mem_clock_hz = {};  // minimum seen
  std::optional<bool> throttled = {};
  std::optional<double> temperature_c = {};  // maximum seen
  std::optional<std::int64_t> other_processes = {}, ecc_errors = {};
};

}  // namespace holdfast
