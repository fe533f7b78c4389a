// SPDX-License-Identifier: Apache-2.0
#include "gate/measure/machine_load.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>

#include "base/machine.hpp"
#include "base/time.hpp"
#include "gate/base/json.hpp"

namespace holdfast::gate {
namespace {

// Beyond these shares of a run no time can be trusted.
constexpr double most_steal = 0.2, most_memory_stall = 0.2;

using Clock = std::chrono::steady_clock;

std::optional<double> busy_seconds() {
  std::ifstream stat("/proc/stat");
  const auto ticks = parse_cpu_ticks(stat);
  if (!ticks) return std::nullopt;
  return (ticks->computed + ticks->stolen) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

double cpu_seconds(int whose) {
  rusage usage = {};
  (void)::getrusage(whose, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double our_seconds() {
  return cpu_seconds(RUSAGE_SELF) + cpu_seconds(RUSAGE_CHILDREN);
}

// "some avg10=0.00 avg60=0.00 avg300=0.00 total=12345", in microseconds.
std::optional<double> stall_seconds(std::istream& pressure) {
  const std::string total = "total=";
  for (std::string word; pressure >> word;)
    if (word.starts_with(total)) return 1e-6 * std::strtod(word.c_str() + total.size(), nullptr);
  return std::nullopt;
}

// The governor's own files, in kHz; else what the kernel lists of its processors, in MHz.
std::optional<double> clock_hz(const std::filesystem::path& root) {
  double fastest = 0;
  std::error_code absent;
  for (const auto& cpu :
       std::filesystem::directory_iterator(root / "sys/devices/system/cpu", absent)) {
    std::ifstream file(cpu.path() / "cpufreq/scaling_cur_freq");
    if (double kilohertz = 0; file >> kilohertz) fastest = std::max(fastest, 1e3 * kilohertz);
  }
  std::ifstream cpuinfo(root / "proc/cpuinfo");
  const bool untold = fastest == 0;
  for (std::string line; untold && std::getline(cpuinfo, line);)
    if (line.starts_with("cpu MHz"))
      fastest = std::max(fastest, 1e6 * std::strtod(line.c_str() + line.find(':') + 1, nullptr));
  return fastest > 0 ? std::optional(fastest) : std::nullopt;
}

std::optional<double> share(const std::optional<double>& part, const std::optional<double>& whole) {
  if (!part || !whole || !(*whole > 0)) return std::nullopt;
  return std::clamp(*part / *whole, 0.0, 1.0);
}

// `already`, plus what a number grew by since.
std::optional<double> grown(const std::optional<double>& already,
                            const std::optional<double>& first, const std::optional<double>& last) {
  if (!first || !last) return already;
  return already.value_or(0) + *last - *first;
}

constexpr std::optional<double> MachineShare::*members_of_share[] = {
    &MachineShare::steal_ticks, &MachineShare::all_ticks, &MachineShare::memory_stall_seconds,
    &MachineShare::seconds, &MachineShare::cpu_clock_hz};

std::string written(const MachineShare& share) {
  nlohmann::json numbers = nlohmann::json::array();
  for (const auto member : members_of_share) numbers.push_back(nullable(share.*member));
  return canonical_line(numbers) + '\n';
}

// A file that was cut short tells nothing.
MachineShare read_share(const std::filesystem::path& path) {
  MachineShare share;
  std::ifstream in(path);
  const nlohmann::json numbers = nlohmann::json::parse(in, nullptr, false);
  if (!numbers.is_array() || numbers.size() != std::size(members_of_share)) return share;
  for (std::size_t i = 0; i < numbers.size(); ++i)
    if (numbers[i].is_number()) share.*members_of_share[i] = numbers[i].get<double>();
  return share;
}

void refuse_beyond(Quality& quality, const std::optional<double>& value, double most,
                   const char* what) {
  if (!value || *value <= most) return;
  quality.valid = false;
  quality.reasons.push_back(text(what, ' ', std::round(1000 * *value) / 10, " % of the run, and ",
                                 100 * most, " % at most leave its times to the code"));
}

}  // namespace

OthersWatch::OthersWatch() : begin_(Clock::now()), busy_(busy_seconds()), ours_(our_seconds()) {}

double OthersWatch::share() const {
  const auto busy = busy_seconds();
  const double elapsed = seconds_since(begin_);
  const double most = elapsed * static_cast<double>(::sysconf(_SC_NPROCESSORS_ONLN));
  if (!busy || !busy_ || !(most > 0)) return 0;
  return std::clamp((*busy - *busy_ - (our_seconds() - ours_)) / most, 0.0, 1.0);
}

MachineState machine_state(const std::filesystem::path& root) {
  MachineState state;
  std::ifstream stat(root / "proc/stat"), pressure(root / "proc/pressure/memory");
  if (const auto ticks = parse_cpu_ticks(stat)) {
    state.steal_ticks = ticks->stolen;
    state.all_ticks = ticks->computed + ticks->idle + ticks->stolen;
  }
  state.memory_stall_seconds = stall_seconds(pressure);
  state.cpu_clock_hz = clock_hz(root);
  return state;
}

MachineWatch::MachineWatch(std::filesystem::path root, std::filesystem::path kept)
    : root_(std::move(root)),
      kept_(std::move(kept)),
      before_(read_share(kept_)),
      begin_(Clock::now()),
      first_(machine_state(root_)),
      last_(first_) {
  least_clock_hz_ = before_.cpu_clock_hz;
}

void MachineWatch::look_at_clock() {
  if (const auto now = machine_state(root_).cpu_clock_hz)
    least_clock_hz_ = std::min(least_clock_hz_.value_or(*now), *now);
}

void MachineWatch::look() {
  last_ = machine_state(root_);
  if (!kept_.empty()) write_file(kept_, written(until_now()));
}

MachineShare MachineWatch::until_now() const {
  const double elapsed = seconds_since(begin_);
  return {.steal_ticks = grown(before_.steal_ticks, first_.steal_ticks, last_.steal_ticks),
          .all_ticks = grown(before_.all_ticks, first_.all_ticks, last_.all_ticks),
          .memory_stall_seconds = grown(before_.memory_stall_seconds, first_.memory_stall_seconds,
                                        last_.memory_stall_seconds),
          .seconds = before_.seconds.value_or(0) + elapsed,
          .cpu_clock_hz = least_clock_hz_};
}

void MachineWatch::describe(Quality& quality, std::optional<double> others) const {
  const MachineShare seen = until_now();
  quality.others_fraction = others;
  quality.steal_fraction = share(seen.steal_ticks, seen.all_ticks);
  quality.memory_stall_fraction = share(seen.memory_stall_seconds, seen.seconds);
  quality.cpu_clock_hz = seen.cpu_clock_hz;
  refuse_beyond(quality, quality.steal_fraction, most_steal, "the hypervisor kept the CPUs for");
  refuse_beyond(quality, quality.memory_stall_fraction, most_memory_stall,
                "something waited for memory in");
}

}  // namespace holdfast::gate
