// SPDX-License-Identifier: Apache-2.0
#include "harness/machine/other_work.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <limits>
#include <sstream>
#include <utility>

#include "base/machine.hpp"
#include "base/time.hpp"

namespace holdfast {

bool holds_threads_up(double seconds, double elapsed) {
  constexpr double share = 0.2, tick = 0.01;
  return !(seconds <= share * elapsed + tick);
}

OtherWork::OtherWork(const std::string& stat) : stat_(::open(stat.c_str(), O_RDONLY | O_CLOEXEC)) {
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
  std::istringstream first(line.data());
  const auto ticks = parse_cpu_ticks(first);
  if (!ticks) return std::numeric_limits<double>::infinity();
  return ticks->computed / static_cast<double>(::sysconf(_SC_CLK_TCK)) - process_cpu_seconds();
}

}  // namespace holdfast
