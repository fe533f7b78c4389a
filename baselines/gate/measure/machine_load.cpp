// SPDX-License-Identifier: Apache-2.0
#include "gate/measure/machine_load.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>

namespace holdfast::gate {
namespace {

using Clock = std::chrono::steady_clock;

std::optional<double> busy_seconds() {
  std::ifstream stat("/proc/stat");
  const auto ticks = busy_ticks(stat);
  if (!ticks) return std::nullopt;
  return *ticks / static_cast<double>(::sysconf(_SC_CLK_TCK));
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

}  // namespace

// Its first line: user nice system idle iowait irq softirq steal.
std::optional<double> busy_ticks(std::istream& stat) {
  std::string cpu;
  double user = 0, nice = 0, system = 0, idle = 0, iowait = 0, irq = 0, softirq = 0, steal = 0;
  if (!(stat >> cpu >> user >> nice >> system >> idle >> iowait >> irq >> softirq >> steal))
    return std::nullopt;
  return user + nice + system + irq + softirq + steal;
}

OthersWatch::OthersWatch() : begin_(Clock::now()), busy_(busy_seconds()), ours_(our_seconds()) {}

double OthersWatch::share() const {
  const auto busy = busy_seconds();
  const double elapsed = std::chrono::duration<double>(Clock::now() - begin_).count();
  const double most = elapsed * static_cast<double>(::sysconf(_SC_NPROCESSORS_ONLN));
  if (!busy || !busy_ || !(most > 0)) return 0;
  return std::clamp((*busy - *busy_ - (our_seconds() - ours_)) / most, 0.0, 1.0);
}

}  // namespace holdfast::gate
