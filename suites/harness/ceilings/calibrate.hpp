// SPDX-License-Identifier: Apache-2.0
// Measures the ceilings of a machine with the computations of kernels/calibration.
#pragma once

#include <cstddef>
#include <exception>
#include <optional>
#include <string_view>
#include <type_traits>

#include "harness/ceilings/ceilings.hpp"
#include "runtime/backend/backend.hpp"
#include "runtime/base/error.hpp"
#include "runtime/base/log.hpp"

namespace holdfast {

// Amount of work per ceiling. The defaults are for a data-centre GPU: a millisecond per step.
struct DeviceEffort {
  double seconds = 0.02;  // of samples per ceiling, beyond the minimum number
  std::size_t memory_bytes = std::size_t{2} << 30, upload_bytes = std::size_t{64} << 20;
  std::size_t cache_bytes = 0;                    // 0: a quarter of the device's L2
  int passes = 20;                                // through the cache
  int multiply_adds = 4000, exponentials = 2000;  // per thread
  int split_products = 4000;                      // per warp and tile
  int edge = 2048;                                // of a matrix product
  int bf16_edge = 4096;                           // of one in bf16, ten times as fast
  int few = 100, many = 1000;                     // launches, graph nodes, barriers
};

inline constexpr int fewest_samples = 3;  // per ceiling, however long they take

// The result of one calibration. If it fails, or computes something wrong, its ceiling is missing
// and the log gets a line.
template <class Find>
std::optional<std::invoke_result_t<Find>> if_it_succeeds(std::string_view what, const Find& find) {
  try {
    return find();
  } catch (const std::exception& error) {
    log(LogLevel::warn, text("the ceiling of ", what,
                             " is not known, because calibrating it failed: ", error.what()));
    return std::nullopt;
  }
}

// Takes about half a second.
Ceilings calibrate_host();
Ceilings calibrate_device(Backend& backend, const DeviceEffort& effort = {});

}  // namespace holdfast
