// SPDX-License-Identifier: Apache-2.0
// The change of this process's resident memory during some work.
#pragma once

#include <cstdint>
#include <optional>

namespace holdfast {

struct HostMemory {
  std::int64_t before = 0, peak = 0, after = 0;  // bytes resident
};

// Watches from construction on. Empty if the system does not report it.
class HostMemoryWatch {
 public:
  HostMemoryWatch();
  std::optional<HostMemory> reading() const;

 private:
  std::optional<std::int64_t> before_;
};

}  // namespace holdfast
