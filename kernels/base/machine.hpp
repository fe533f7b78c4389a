// SPDX-License-Identifier: Apache-2.0
// What this machine's CPU is called, how much of it a process uses and may have before others, and
// what all of them did.
#pragma once

#include <charconv>
#include <cstdlib>
#include <istream>
#include <optional>
#include <string>
#include <string_view>

#include "base/text.hpp"

namespace holdfast {

// A positive number from the environment: empty where the variable is unset or empty, or, with a
// complaint, where it is something else.
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

// That one, or the narrower one that HOLDFAST_ISA names, so that a machine can measure as another
// class does. A setting that names none is passed over, and complained of.
struct HostIsa {
  std::string name = {};
  std::string complaint = {};
};
HostIsa chosen_isa(const std::string& widest = widest_isa());
std::string host_isa();
// Whether host code is compiled for it.
bool has_host_code(std::string_view isa);

// CPUs that this process may use, at least 1. Where OpenMP binds its threads, OpenMP's own count
// is of the process as it began, and this one of the thread that asks.
int usable_cpus();

// How many threads a suite runs with: HOLDFAST_NUM_THREADS, else Slurm's count, else 2 (1 where
// there is but one CPU to use). A setting that is no number, or more CPUs than a process can have
// (1024), is passed over, and complained of.
struct HostThreads {
  int count = 1;
  std::string complaint = {};
};
HostThreads host_threads(int cpus = usable_cpus());

// Whether the threads of this process may go before those of all others, by real-time scheduling:
// where the system grants it (CAP_SYS_NICE, or `ulimit -r`) for as long as one likes,
// HOLDFAST_PRECEDENCE=none does not decline it, and nobody began the process with a policy or a
// niceness of its own. A setting that means nothing is passed over, and complained of.
struct Precedence {
  bool granted = false;
  std::string complaint = {};
};
Precedence precedence();

// "host-x86_64-v4-2t": where what is counted may be compared, and the name of a folder of
// baselines. Without arguments, that of the suites that start here.
std::string host_class(std::string_view isa, int threads);
std::string host_class();

struct Processor {
  std::optional<std::string> name = {};  // as it is sold: "AMD EPYC", which many are called
  // "AuthenticAMD-26-2": vendor, family and model, which decide how two pieces of code compare in
  // time.
  std::string id = "unknown";
};
Processor parse_processor(std::istream& cpuinfo);
Processor processor();

// What all CPUs together did since the machine began, in ticks (sysconf(_SC_CLK_TCK) a second), as
// the first line of /proc/stat has it: "cpu  user nice system idle iowait irq softirq steal ...".
struct CpuTicks {
  double computed = 0, idle = 0;  // the latter with waiting for a disk
  double stolen = 0;              // kept by the hypervisor
};
std::optional<CpuTicks> parse_cpu_ticks(std::istream& stat);

// The mean number of tasks that ran or waited in the last minute, which /proc/loadavg begins with:
// "0.42 0.38 0.30 1/345 6789"; empty where nothing tells.
std::optional<double> parse_load_average(std::istream& loadavg);
std::optional<double> load_average();

}  // namespace holdfast
