// SPDX-License-Identifier: Apache-2.0
#include "harness/machine/cpu_waits.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <utility>

#include "base/text.hpp"
#include "harness/machine/own_work.hpp"

namespace holdfast {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double time_slice = 4e-3;
// On a virtual machine a thread that slept waits 16 us for its CPU, each time.
constexpr double own_wait = 30e-6, most_own_waits = 0.1;

// The second and third number of a schedstat: nanoseconds runnable but not running, and the number
// of time slices. Empty once the thread has ended.
std::optional<Waits> read_waits(int schedstat) {
  std::array<char, 96> line = {};
  if (::pread(schedstat, line.data(), line.size() - 1, 0) <= 0) return {};
  char *second = nullptr, *third = nullptr;
  (void)std::strtoull(line.data(), &second, 10);
  const auto waited = std::strtoull(second, &third, 10);
  return Waits{.seconds = 1e-9 * static_cast<double>(waited),
               .times = std::strtoll(third, nullptr, 10)};
}

double interrupted_seconds() {
  rusage usage = {};
  (void)::getrusage(RUSAGE_SELF, &usage);
  return time_slice * static_cast<double>(usage.ru_nivcsw);
}

}  // namespace

double by_others(const Waits& waits, double elapsed, bool others_ran) {
  if (others_ran) return waits.seconds;
  const double own =
      std::min(own_wait * static_cast<double>(waits.times), most_own_waits * elapsed);
  return std::max(waits.seconds - own, 0.0);
}

CpuWaits::CpuWaits() {
  for (const pid_t thread : working_threads()) {
    Descriptor file(
        ::open(text("/proc/self/task/", thread, "/schedstat").c_str(), O_RDONLY | O_CLOEXEC));
    if (*file >= 0) threads_.push_back({std::move(file)});
  }
  asked_ = so_far();
  when_ = Clock::now();
}

Waits CpuWaits::so_far() const {
  if (threads_.empty()) return {.seconds = interrupted_seconds()};
  Waits sum;
  for (const Watched& thread : threads_) {
    thread.last = read_waits(*thread.schedstat).value_or(thread.last);
    sum.seconds += thread.last.seconds;
    sum.times += thread.last.times;
  }
  return sum;
}

double CpuWaits::by_others() {
  const Waits now = so_far(), before = std::exchange(asked_, now);
  const auto begun = std::exchange(when_, Clock::now());
  others_ += holdfast::by_others(
      {.seconds = now.seconds - before.seconds, .times = now.times - before.times},
      std::chrono::duration<double>(when_ - begun).count(), others_work_.ran());
  return others_;
}

}  // namespace holdfast
