// SPDX-License-Identifier: Apache-2.0
// The devices a fit can use on this machine, and the recommended one: the published helpers, by
// library calls and the proc file system only.
#pragma once

#include <cstdint>
#include <istream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::xpcs_fit {

struct DeviceWish {
  bool prefers_gpu = true, forces_host = false;
};
struct DeviceChoice {
  std::string backend = {};  // as open_backend() takes it
  std::string reason = {};
};
// why_no_gpu: empty if there is a GPU.
DeviceChoice choose_device(const DeviceWish& wish, const std::string& why_no_gpu);

struct MachineStatus {
  std::string utc = {};
  std::string processor = {}, isa = {};
  int cpus = 1, threads = 1;                      // available, used
  int cores = 1;                                  // of these CPUs, two of which may share one
  std::optional<std::int64_t> memory_bytes = {};  // available for planning
  std::string gpu = {}, why_no_gpu = {};          // exactly one of them is empty
  std::optional<std::int64_t> gpu_memory_bytes = {};
  DeviceChoice choice = {};      // without a wish
  std::string performance = {};  // the published estimate for it
  std::vector<std::string> recommendations = {};
};
// `gpu`: as open_backend() takes it. A GPU that does not open, for instance because another process
// holds it, counts as none.
MachineStatus machine_status(std::string_view gpu = "cuda");

// The physical cores listed in /proc/cpuinfo; 0 if it does not number them, as in some virtual
// machines.
int parse_cores(std::istream& cpuinfo);

// "high" with a GPU, "medium-high" with 16 cores or more, else "medium".
std::string performance_estimate(const MachineStatus& status);

// The whole status in one line.
std::string described(const MachineStatus& status);

}  // namespace holdfast::xpcs_fit
