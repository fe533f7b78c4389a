// SPDX-License-Identifier: Apache-2.0
#include "xpcs_fit/machine/status.hpp"

#include "base/machine.hpp"
#include "base/time.hpp"
#include "runtime/backend/backend.hpp"
#include "runtime/base/error.hpp"

namespace holdfast::xpcs_fit {

bool driver_supports(int cuda_major, int cuda_minor, int driver_major) {
  struct Rule {
    int major, first_minor, last_minor, driver;
  };
  constexpr Rule rules[] = {{12, 1, 9, 525}, {13, 0, 99, 580}};
  for (const Rule& rule : rules)
    if (cuda_major == rule.major && cuda_minor >= rule.first_minor && cuda_minor <= rule.last_minor)
      return driver_major >= rule.driver;
  return false;
}

DeviceChoice choose_device(const DeviceWish& wish, const std::string& why_no_gpu) {
  if (wish.forces_host) return {"host", "the host was asked for"};
  if (!wish.prefers_gpu) return {"host", "a GPU is not preferred"};
  if (!why_no_gpu.empty()) return {"host", "there is no GPU: " + why_no_gpu};
  return {"cuda", "a GPU is preferred, and there is one"};
}

MachineStatus machine_status(std::string_view gpu) {
  const HostLimits& limits = host_limits();
  MachineStatus status = {.utc = utc_now(),
                          .processor = processor().name.value_or("unknown"),
                          .isa = limits.isa,
                          .cpus = usable_cpus(),
                          .threads = limits.threads,
                          .memory_bytes = limits.memory_bytes};
  try {
    const auto backend = open_backend(gpu);
    status.gpu = backend->device->name();
    status.gpu_memory_bytes = backend->device->memory_bytes();
  } catch (const Error& error) {
    if (error.fault() != Fault::no_device && error.fault() != Fault::device) throw;
    status.why_no_gpu = error.what();
    status.recommendations.push_back("fits run on the host; holdfast doctor says what a GPU needs");
  }
  if (status.threads < status.cpus)
    status.recommendations.push_back(
        text("set HOLDFAST_NUM_THREADS=", status.cpus, ", of which ", status.threads, " are used"));
  return status;
}

std::string performance_estimate(const MachineStatus& status) {
  if (!status.gpu.empty()) return "high";
  return status.cpus >= 16 ? "medium-high" : "medium";
}

}  // namespace holdfast::xpcs_fit
