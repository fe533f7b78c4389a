// SPDX-License-Identifier: Apache-2.0
#include "runtime/backend/host_limits.hpp"

#include <omp.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "base/machine.hpp"
#include "runtime/base/error.hpp"

namespace holdfast {
namespace {

void refuse(const std::string& complaint) {
  if (!complaint.empty()) throw Error(Fault::bad_input, complaint);
}

template <class Number>
std::optional<Number> number_from(const char* variable) {
  const auto setting = positive_setting<Number>(variable);
  refuse(setting.complaint);
  return setting.value;
}

int threads_of_this_process() {
  const HostThreads threads = host_threads(omp_get_num_procs());
  refuse(threads.complaint);
  return threads.count;
}

std::int64_t machine_memory_bytes() {
  const auto physical = std::int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGE_SIZE);
  std::int64_t group = 0;  // stays 0 if the control group says "max" or is absent
  std::ifstream("/sys/fs/cgroup/memory.max") >> group;
  return group > 0 ? std::min(group, physical) : physical;
}

std::int64_t memory_of_this_process(int threads) {
  if (const auto own = number_from<double>("HOLDFAST_MEMORY_LIMIT_GB"))
    return static_cast<std::int64_t>(std::min(*own * 1e9, 0x1p62));  // more than any machine has
  constexpr std::int64_t slurm_megabyte = std::int64_t{1} << 20;
  if (const auto node = number_from<std::int64_t>("SLURM_MEM_PER_NODE"))
    return *node * slurm_megabyte;
  if (const auto cpu = number_from<std::int64_t>("SLURM_MEM_PER_CPU"))
    return *cpu * slurm_megabyte * number_from<int>("SLURM_CPUS_PER_TASK").value_or(threads);
  return machine_memory_bytes();
}

std::string supported_isa() {
  const HostIsa isa = chosen_isa();
  refuse(isa.complaint);
  if (has_host_code(isa.name)) return isa.name;
  throw Error(Fault::no_device,
              "this CPU is below x86-64-v3 (it lacks AVX2 or FMA), the least that the host code is "
              "compiled for: use another machine");
}

bool precedence_of_this_process() {
  const Precedence found = precedence();
  refuse(found.complaint);
  return found.granted;
}

}  // namespace

HostLimits read_host_limits() {
  const int threads = threads_of_this_process();
  return {.threads = threads,
          .memory_bytes = memory_of_this_process(threads),
          .isa = supported_isa(),
          .precedence = precedence_of_this_process()};
}

const HostLimits& host_limits() {
  static const HostLimits limits = read_host_limits();
  return limits;
}

}  // namespace holdfast
