// SPDX-License-Identifier: Apache-2.0
#include "xpcs_fit/machine/status.hpp"

#include "base/machine.hpp"
#include "base/time.hpp"
#include "runtime/backend/backend.hpp"
#include "runtime/base/error.hpp"

namespace holdfast::xpcs_fit {

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
    if (error.fault() == Fault::bad_input) throw;
    status.why_no_gpu = error.what();
    status.recommendations.push_back("fits run on the host; holdfast doctor says what a GPU needs");
  }
  status.choice = choose_device({}, status.why_no_gpu);
  status.performance = performance_estimate(status);
  if (status.threads < status.cpus)
    status.recommendations.push_back(
        text("set HOLDFAST_NUM_THREADS=", status.cpus, ", of which ", status.threads, " are used"));
  return status;
}

std::string performance_estimate(const MachineStatus& status) {
  if (!status.gpu.empty()) return "high";
  return status.cpus >= 16 ? "medium-high" : "medium";
}

std::string described(const MachineStatus& status) {
  const auto gigabytes = [](const std::optional<std::int64_t>& bytes) {
    return bytes ? text(static_cast<double>(*bytes) / 1e9, " GB") : "unknown memory";
  };
  std::string all =
      text(status.utc, ": fits go to ", status.choice.backend, " (", status.choice.reason,
           "), performance ", status.performance, "; ", status.processor, ", ", status.isa, ", ",
           status.threads, " threads on ", status.cpus, " CPUs, ", gigabytes(status.memory_bytes));
  if (!status.gpu.empty()) all += text("; ", status.gpu, ", ", gigabytes(status.gpu_memory_bytes));
  for (const std::string& one : status.recommendations) all += text("; ", one);
  return all;
}

}  // namespace holdfast::xpcs_fit
