// SPDX-License-Identifier: Apache-2.0
// The model of this machine's CPU, how many CPUs and which priority a process may use, and how busy
// all of them were.
#pragma once

#include <charconv>
#include <cstdlib>
#include <istream>
#include <optional>
#include <string>
#include <string_view>

#include "base/text.hpp"

namespace holdfast {

// A positive number from the environment: empty if the variable is unset or empty, or, with a
// complaint, if it is not such a number.
template <class Number>
struct Setting {
  std::optional<Number> value = {};
  std::string complaint = {};
};
template <class Number>
Setting<Number> positive_setting(const char* variable) {
  const char* setting = std::getenv(variable);
  if (!setting || !*setting) return {};
  const std::string_view digits = setting;
  Number value{};
  const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (failure == std::errc{} && end == digits.data() + digits.size() && value > 0)
    return {.value = value};
  return {.complaint =
              text(variable, " is '", digits, "': set it to a positive number or unset it")};
}

// The widest instruction set that this CPU has: x86-64-v4, -v3, -v2 or x86-64.
std::string widest_isa();

// widest_isa(), or the narrower one that HOLDFAST_ISA names, so that a machine can measure as
// another class does. An unusable setting is ignored, with a complaint.
struct HostIsa {
  std::string name = {};
  std::string complaint = {};
};
HostIsa chosen_isa(const std::string& widest = widest_isa());
std::string host_isa();
// Whether host code is compiled for this instruction set.
bool has_host_code(std::string_view isa);

// CPUs that this process may use, at least 1. Where OpenMP binds its threads, OpenMP's own count is
// that of the process at its start; this one is the calling thread's.
int usable_cpus();

// How many threads a suite runs with: HOLDFAST_NUM_THREADS, else Slurm's count, else 2 (1 if only
// one CPU is usable). A setting that is not a number, or above the 1024 CPUs a process can have, is
// ignored, with a complaint; more than OMP_THREAD_LIMIT are complained of as well.
struct HostThreads {
  int count = 1;
  std::string complaint = {};
};
HostThreads host_threads(int cpus = usable_cpus());

// Whether this process may use real-time scheduling: the system grants it (CAP_SYS_NICE, or `ulimit
// -r`) without a time limit, HOLDFAST_PRECEDENCE=none does not decline it, and the process was not
// started with its own policy or a positive niceness. A bad setting is ignored, with a complaint.
struct Precedence {
  bool granted = false;
  std::string complaint = {};
};
Precedence precedence();

// "host-x86_64-v4-2t": the class within which counted metrics are comparable, and the name of a
// folder of baselines. Without arguments, the class of suites started here.
std::string host_class(std::string_view isa, int threads);
std::string host_class();

struct Processor {
  std::optional<std::string> name = {};  // the marketing name, "AMD EPYC", which many models share
  // "AuthenticAMD-26-2": vendor, family and model, which determine the relative speed of two pieces
  // of code.
  std::string id = "unknown";
};
Processor parse_processor(std::istream& cpuinfo);
Processor processor();

// What all CPUs together did since boot, in ticks (sysconf(_SC_CLK_TCK) per second), from the first
// line of /proc/stat: "cpu  user nice system idle iowait irq softirq steal ...".
struct CpuTicks {
  double computed = 0, idle = 0;  // idle includes waiting for a disk
  double stolen = 0;              // kept by the hypervisor
};
std::optional<CpuTicks> parse_cpu_ticks(std::istream& stat);

// The mean number of tasks running or waiting over the last minute, the first number of
// /proc/loadavg: "0.42 0.38 0.30 1/345 6789"; empty if it cannot be read.
std::optional<double> parse_load_average(std::istream& loadavg);
std::optional<double> load_average();

}  // namespace holdfast
