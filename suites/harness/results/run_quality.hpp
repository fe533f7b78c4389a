// SPDX-License-Identifier: Apache-2.0
// Whether what was timed can be trusted, by what the device said of itself meanwhile.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace holdfast {

struct RunQuality {
  std::vector<std::string> reasons = {};  // why it is invalid; none: it is valid
  std::optional<double> sm_clock_hz = {}, mem_clock_hz = {};  // the least that was seen
  std::optional<bool> throttled = {};
  std::optional<double> temperature_c = {};  // the most
  std::optional<std::int64_t> other_processes = {}, ecc_errors = {};
};

}  // namespace holdfast
