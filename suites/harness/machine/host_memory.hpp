// SPDX-License-Identifier: Apache-2.0
// What a stretch of work did to this process's resident memory.
#pragma once

#include <cstdint>
#include <optional>

namespace holdfast {

struct HostMemory {
  std::int64_t before = 0, peak = 0, after = 0;  // bytes resident
};

// Watches from its construction on. Empty where the system does not tell.
class HostMemoryWatch {
 public:
  HostMemoryWatch();
  std::optional<HostMemory> reading() const;

 private:
  std::optional<std::int64_t> before_;
};

}  // namespace holdfast
