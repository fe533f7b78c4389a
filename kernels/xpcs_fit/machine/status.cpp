// SPDX-License-Identifier: Apache-2.0
#include "xpcs_fit/machine/status.hpp"

#include <algorithm>
#include <fstream>
#include <set>
#include <utility>

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

int parse_cores(std::istream& cpuinfo) {
  std::set<std::pair<std::string, std::string>> cores;  // socket, core of it
  std::string socket;
  for (std::string line; std::getline(cpuinfo, line);) {
    if (line.starts_with("physical id")) socket = line;
    if (line.starts_with("core id")) cores.emplace(socket, line);
  }
  return static_cast<int>(cores.size());
}

MachineStatus machine_status(std::string_view gpu) {
  const HostLimits& limits = host_limits();
  std::ifstream cpuinfo("/proc/cpuinfo");
  const int cores = parse_cores(cpuinfo);
  MachineStatus status = {.utc = utc_now(),
                          .processor = processor().name.value_or("unknown"),
                          .isa = limits.isa,
                          .cpus = usable_cpus(),
                          .threads = limits.threads,
                          .cores = cores > 0 ? std::min(cores, usable_cpus()) : usable_cpus(),
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
  return status.cores >= 16 ? "medium-high" : "medium";
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
