// SPDX-License-Identifier: Apache-2.0
// What a fit can run on here, and what it should: the published helpers, from library calls and the
// proc file system alone.
#pragma once

#include <cstdint>
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
// why_no_gpu: empty where there is one.
DeviceChoice choose_device(const DeviceWish& wish, const std::string& why_no_gpu);

struct MachineStatus {
  std::string utc = {};
  std::string processor = {}, isa = {};
  int cpus = 1, threads = 1;                      // that may be used, that are
  std::optional<std::int64_t> memory_bytes = {};  // that may be planned with
  std::string gpu = {}, why_no_gpu = {};          // one of them is empty
  std::optional<std::int64_t> gpu_memory_bytes = {};
  DeviceChoice choice = {};      // where nothing is asked for
  std::string performance = {};  // the published estimate of it
  std::vector<std::string> recommendations = {};
};
// `gpu`: as open_backend() takes it. One that does not open, because another process holds it for
// instance, counts as none.
MachineStatus machine_status(std::string_view gpu = "cuda");

// "high" with a GPU, "medium-high" with 16 CPUs or more, else "medium".
std::string performance_estimate(const MachineStatus& status);

// All of it in a line.
std::string described(const MachineStatus& status);

}  // namespace holdfast::xpcs_fit
