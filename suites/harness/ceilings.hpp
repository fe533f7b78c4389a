// SPDX-License-Identifier: Apache-2.0
// What this machine can do at best, calibrated once per run: the roofline that a case's floor is
// read from.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "computation.hpp"
#include "runtime/backend.hpp"

namespace holdfast {

struct Ceilings {
  // Copy bandwidth (reads plus writes) by footprint, smallest first; the last lies beyond every
  // cache.
  struct Level {
    std::string name = {};  // "memory_bytes_per_s"
    double footprint_bytes = 0;
    double bytes_per_second = 0;
  };
  std::vector<Level> levels = {};
  std::optional<double> f64_flop_per_second = {}, f32_flop_per_second = {};

  // Bandwidth of the smallest calibrated footprint that holds `bytes`.
  double bandwidth(double bytes) const;
  // The least time that `work` can take when its data occupies `footprint_bytes`.
  double floor_seconds(const Work& work, double footprint_bytes) const;
  std::map<std::string, std::optional<double>> named() const;
};

// At most two seconds. Empty on a device that does not execute.
std::optional<Ceilings> calibrate(Backend& backend);

}  // namespace holdfast
