// SPDX-License-Identifier: Apache-2.0
// The data caches of this machine's CPUs, as the system describes them.
#pragma once

#include <cstddef>
#include <filesystem>
#include <vector>

namespace holdfast::calibration {

struct Cache {
  int level = 1;
  std::size_t bytes = 0;  // of each instance
  int instances = 1;      // on the whole machine
  int sharers = 1;        // CPUs per instance

  // The most bytes that `threads` threads, each on its own CPU, can hold in this level together.
  std::size_t team_bytes(int threads) const;
};

// Levels 1 to 3, innermost first. A level that the system does not describe (no /sys in a
// container, a virtual machine that hides it) gets a common size.
std::vector<Cache> host_caches(const std::filesystem::path& system = "/sys/devices/system/cpu");

}  // namespace holdfast::calibration
