// SPDX-License-Identifier: Apache-2.0
#include "base/machine.hpp"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <map>

namespace holdfast {

namespace {

// A process can use at most as many CPUs as a cpu_set_t has.
Setting<int> thread_setting(const char* variable) {
  auto setting = positive_setting<int>(variable);
  if (setting.value.value_or(0) <= CPU_SETSIZE) return setting;
  return {.complaint = text(variable, " is '", *setting.value, "': set it to at most ", CPU_SETSIZE,
                            " or unset it")};
}

// Under a limit on real-time CPU use without blocking (RLIMIT_RTTIME) the kernel would kill the
// process.
bool grants_real_time() {
  rlimit unpaused = {};
  if (::getrlimit(RLIMIT_RTTIME, &unpaused) != 0 || unpaused.rlim_cur != RLIM_INFINITY)
    return false;
  const sched_param usual = {}, lowest = {.sched_priority = ::sched_get_priority_min(SCHED_RR)};
  if (::sched_setscheduler(0, SCHED_RR, &lowest) != 0) return false;
  (void)::sched_setscheduler(0, SCHED_OTHER, &usual);
  return true;
}

}  // namespace

std::string widest_isa() {
#if !defined(__clang__) || __clang_major__ >= 18  // the fuzzers' clang knows no levels
  if (__builtin_cpu_supports("x86-64-v4")) return "x86-64-v4";
  if (__builtin_cpu_supports("x86-64-v3")) return "x86-64-v3";
  if (__builtin_cpu_supports("x86-64-v2")) return "x86-64-v2";
#endif
  return "x86-64";
}

HostIsa chosen_isa(const std::string& widest) {
  HostIsa isa{.name = widest};
  const char* setting = std::getenv("HOLDFAST_ISA");
  if (!setting || !*setting) return isa;
  if (!has_host_code(setting))
    isa.complaint =
        text("HOLDFAST_ISA is '", setting, "': set it to x86-64-v3 or x86-64-v4, or unset it");
  else if (isa.name < setting)
    isa.complaint = text("HOLDFAST_ISA is '", setting, "', and this CPU has ", isa.name,
                         ": unset it, or use another machine");
  else
    isa.name = setting;
  return isa;
}

std::string host_isa() {
  return chosen_isa().name;
}

bool has_host_code(std::string_view isa) {
  return isa == "x86-64-v4" || isa == "x86-64-v3";
}

int usable_cpus() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  const bool known = ::sched_getaffinity(0, sizeof allowed, &allowed) == 0;
  return std::max(1,
                  known ? CPU_COUNT(&allowed) : static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN)));
}

HostThreads host_threads(int cpus) {
  constexpr int gate_threads = 2;  // the same everywhere, so that host baselines are comparable
  HostThreads threads{.count = std::min(gate_threads, cpus)};
  for (const char* variable : {"HOLDFAST_NUM_THREADS", "SLURM_CPUS_PER_TASK"}) {
    const auto setting = thread_setting(variable);
    if (threads.complaint.empty()) threads.complaint = setting.complaint;
    if (!setting.value) continue;
    threads.count = *setting.value;
    break;
  }
  // OpenBLAS waits forever for threads that OpenMP does not give it.
  const auto most = thread_setting("OMP_THREAD_LIMIT");
  if (threads.complaint.empty() && most.value && *most.value < threads.count)
    threads.complaint =
        text("OMP_THREAD_LIMIT is '", *most.value, "', and a suite runs with ", threads.count,
             " threads: unset it, or set HOLDFAST_NUM_THREADS to no more");
  return threads;
}

Precedence precedence() {
  const char* setting = std::getenv("HOLDFAST_PRECEDENCE");
  const std::string_view declined = setting ? setting : "";
  if (declined == "none") return {};
  if (!declined.empty())
    return {.complaint =
                text("HOLDFAST_PRECEDENCE is '", declined, "': set it to none or unset it")};
  if (::sched_getscheduler(0) != SCHED_OTHER || ::getpriority(PRIO_PROCESS, 0) > 0) return {};
  return {.granted = grants_real_time()};
}

std::string host_class(std::string_view isa, int threads) {
  return text("host-x86_64", isa.substr(std::string_view("x86-64").size()), "-", threads, "t");
}

std::string host_class() {
  return host_class(host_isa(), host_threads().count);
}

Processor parse_processor(std::istream& cpuinfo) {
  std::map<std::string, std::string> first;  // fields of the first processor
  for (std::string line; std::getline(cpuinfo, line) && !line.empty();)
    if (const std::size_t colon = line.find(':'); colon != std::string::npos)
      first.try_emplace(line.substr(0, line.find_last_not_of(" \t", colon - 1) + 1),
                        line.substr(std::min(line.size(), colon + 2)));
  Processor found;
  if (first.contains("model name")) found.name = first["model name"];
  if (first.contains("vendor_id") && first.contains("cpu family") && first.contains("model"))
    found.id = text(first["vendor_id"], '-', first["cpu family"], '-', first["model"]);
  return found;
}

Processor processor() {
  std::ifstream cpuinfo("/proc/cpuinfo");
  return parse_processor(cpuinfo);
}

std::optional<CpuTicks> parse_cpu_ticks(std::istream& stat) {
  std::string cpu;
  double user = 0, nice = 0, system = 0, idle = 0, iowait = 0, irq = 0, softirq = 0, steal = 0;
  if (!(stat >> cpu >> user >> nice >> system >> idle >> iowait >> irq >> softirq >> steal))
    return std::nullopt;
  return CpuTicks{
      .computed = user + nice + system + irq + softirq, .idle = idle + iowait, .stolen = steal};
}

std::optional<double> parse_load_average(std::istream& loadavg) {
  double load = 0;
  if (!(loadavg >> load)) return std::nullopt;
  return load;
}

std::optional<double> load_average() {
  std::ifstream loadavg("/proc/loadavg");
  return parse_load_average(loadavg);
}

}  // namespace holdfast
