// SPDX-License-Identifier: Apache-2.0
#include "harness/machine/host_memory.hpp"

#include <algorithm>
#include <fstream>
#include <string>

namespace holdfast {
namespace {

// A line of /proc/self/status, "VmRSS:   12345 kB", in bytes.
std::optional<std::int64_t> status(const std::string& key) {
  std::ifstream file("/proc/self/status");
  for (std::string word; file >> word;) {
    std::int64_t kilobytes = 0;
    if (word == key + ":" && file >> kilobytes) return kilobytes * 1024;
    file.ignore(4096, '\n');
  }
  return std::nullopt;
}

}  // namespace

HostMemoryWatch::HostMemoryWatch() : before_(status("VmRSS")) {
  std::ofstream("/proc/self/clear_refs") << "5";  // resets the high-water mark to the resident size
}

std::optional<HostMemory> HostMemoryWatch::reading() const {
  const auto peak = status("VmHWM"), after = status("VmRSS");
  if (!before_ || !peak || !after) return std::nullopt;
  return HostMemory{*before_, std::max({*peak, *before_, *after}), *after};
}

}  // namespace holdfast
