// SPDX-License-Identifier: Apache-2.0
#include "harness/machine/cpu_quota.hpp"

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <string>

namespace holdfast {
namespace {

namespace fs = std::filesystem;

// Usual mount points of the CPU controller: version 2, alone or beside version 1, and version 1.
constexpr const char* mounts[] = {"sys/fs/cgroup", "sys/fs/cgroup/unified", "sys/fs/cgroup/cpu",
                                  "sys/fs/cgroup/cpu,cpuacct"};

// "150000 100000", microseconds of CPU time and of the period; no limit is "max" or -1.
std::optional<double> quota_of(const fs::path& group) {
  std::ifstream both(group / "cpu.max"), quota(group / "cpu.cfs_quota_us"),
      period(group / "cpu.cfs_period_us");
  double part = 0, whole = 0;
  if ((both >> part >> whole || (quota >> part && period >> whole)) && part > 0 && whole > 0)
    return part / whole;
  return std::nullopt;
}

}  // namespace

std::optional<double> cpu_quota(const fs::path& root) {
  std::optional<double> least;
  std::ifstream groups(root / "proc/self/cgroup");
  // "0::/user.slice", "4:cpu,cpuacct:/docker/1f2e": a container may see its own group as the root.
  for (std::string line; std::getline(groups, line);) {
    const std::size_t colon = line.find(':', line.find(':') + 1);
    if (colon == std::string::npos) continue;
    for (const char* mount : mounts)
      for (fs::path group = line.substr(colon + 1);; group = group.parent_path()) {
        if (const auto quota = quota_of(root / mount / group.relative_path()))
          least = std::min(least.value_or(*quota), *quota);
        if (!group.has_relative_path()) break;
      }
  }
  return least;
}

}  // namespace holdfast
