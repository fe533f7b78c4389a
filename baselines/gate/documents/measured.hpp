// SPDX-License-Identifier: Apache-2.0
// One metric as it was measured, and by how many processes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gate/base/numbers.hpp"

namespace holdfast::gate {

// The fewest processes that decide a ratio or a time, and the most that measure a case unless more
// are requested.
inline constexpr std::int64_t enough_processes = 5;
inline constexpr std::int64_t most_unasked_processes = 16;

struct Measured {
  Value value;
  std::optional<double> mad_between = {};
  std::size_t processes = 1;
  std::vector<double> values = {};    // of a time or ratio, one per process
  bool of_other_rounds = false;       // than the values of the build that took turns with it
  std::vector<double> readings = {};  // of a bound, one per process, where they differ
  std::string run = {};               // the id of another run that measured it
};

}  // namespace holdfast::gate
