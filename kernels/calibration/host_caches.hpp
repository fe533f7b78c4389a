// SPDX-License-Identifier: Apache-2.0
// The data caches of this machine's CPUs, as the system describes them.
#pragma once

#include <cstddef>
#include <filesystem>
#include <vector>

namespace holdfast::calibration {

struct Cache {
  int level = 1;
  std::size_t bytes = 0;  // of one of them
  int instances = 1;      // on the whole machine
  int sharers = 1;        // CPUs that one serves

  // What `threads` threads on CPUs of their own can hold in it together, at best.
  std::size_t team_bytes(int threads) const;
};

// Levels 1 to 3, innermost first. A level that the system does not describe (no /sys in a
// container, a virtual machine that hides it) has a common size.
std::vector<Cache> host_caches(const std::filesystem::path& system = "/sys/devices/system/cpu");

}  // namespace holdfast::calibration
