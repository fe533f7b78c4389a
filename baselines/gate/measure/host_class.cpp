// SPDX-License-Identifier: Apache-2.0
#include "gate/measure/host_class.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <thread>

#include "gate/base/error.hpp"

namespace holdfast::gate {

std::string host_isa() {
  if (__builtin_cpu_supports("x86-64-v4")) return "x86-64-v4";
  if (__builtin_cpu_supports("x86-64-v3")) return "x86-64-v3";
  if (__builtin_cpu_supports("x86-64-v2")) return "x86-64-v2";
  return "x86-64";
}

int host_threads() {
  for (const char* variable : {"HOLDFAST_NUM_THREADS", "SLURM_CPUS_PER_TASK"})
    if (const char* setting = std::getenv(variable); setting && std::atoi(setting) > 0)
      return std::atoi(setting);
  constexpr int gate_threads = 2;  // the same everywhere, so that host baselines compare
  return std::min(gate_threads, static_cast<int>(std::thread::hardware_concurrency()));
}

std::string host_class() {
  std::string isa = host_isa();
  isa.replace(0, std::string("x86-64").size(), "x86_64");
  return text("host-", isa, "-", host_threads(), "t");
}

std::string host_processor() {
  std::ifstream info("/proc/cpuinfo");
  std::map<std::string, std::string> first;
  for (std::string line; std::getline(info, line) && !line.empty();)
    if (const std::size_t colon = line.find(':'); colon != std::string::npos)
      first.try_emplace(line.substr(0, line.find_last_not_of(" \t", colon - 1) + 1),
                        line.substr(std::min(line.size(), colon + 2)));
  for (const char* key : {"vendor_id", "cpu family", "model"})
    if (!first.contains(key)) return "unknown";
  return text(first["vendor_id"], '-', first["cpu family"], '-', first["model"]);
}

}  // namespace holdfast::gate
