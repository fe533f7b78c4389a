// SPDX-License-Identifier: Apache-2.0
#include "harness/measure/other_work.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <limits>
#include <sstream>
#include <utility>

#include "base/time.hpp"

namespace holdfast {

double seconds_of_others(const std::string& stat, double own) {
  std::istringstream line(stat);
  std::string cpu;
  double user = 0, nice = 0, system = 0, idle = 0, iowait = 0, irq = 0, softirq = 0;
  if (!(line >> cpu >> user >> nice >> system >> idle >> iowait >> irq >> softirq))
    return std::numeric_limits<double>::infinity();
  const auto per_second = static_cast<double>(::sysconf(_SC_CLK_TCK));
  return (user + nice + system + irq + softirq) / per_second - own;
}

bool holds_threads_up(double seconds, double elapsed) {
  constexpr double share = 0.2, tick = 0.01;
  return !(seconds <= share * elapsed + tick);
}

OtherWork::OtherWork() : stat_(::open("/proc/stat", O_RDONLY | O_CLOEXEC)) {
  begun_seconds_ = seconds();
}

bool OtherWork::ran() {
  const auto now = std::chrono::steady_clock::now();
  const double elapsed = std::chrono::duration<double>(now - begun_).count();
  if (elapsed < 0.1) return ran_;
  const double before = std::exchange(begun_seconds_, seconds());
  begun_ = now;
  return ran_ = holds_threads_up(begun_seconds_ - before, elapsed);
}

double OtherWork::seconds() const {
  std::array<char, 256> line = {};
  (void)::pread(*stat_, line.data(), line.size() - 1, 0);
  return seconds_of_others(line.data(), process_cpu_seconds());
}

}  // namespace holdfast
