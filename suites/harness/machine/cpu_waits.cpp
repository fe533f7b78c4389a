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
  watch_new();
  accounted_ = !threads_.empty();
  asked_ = so_far();
  when_ = Clock::now();
}

void CpuWaits::watch_new() {
  for (const pid_t thread : working_threads()) {
    if (std::ranges::find(threads_, thread, &Watched::thread) != threads_.end()) continue;
    Descriptor file(
        ::open(text("/proc/self/task/", thread, "/schedstat").c_str(), O_RDONLY | O_CLOEXEC));
    if (*file >= 0) threads_.push_back({thread, std::move(file)});
  }
}

Waits CpuWaits::so_far() {
  if (!accounted_) return {.seconds = interrupted_seconds()};
  Waits sum;
  const auto add = [](const Waits& more, Waits& to) {
    to.seconds += more.seconds;
    to.times += more.times;
  };
  for (auto thread = threads_.begin(); thread != threads_.end();)
    if (const auto now = read_waits(*thread->schedstat)) {
      thread->last = *now;
      add(*now, sum);
      ++thread;
    } else {
      add(thread->last, of_ended_);
      thread = threads_.erase(thread);
    }
  add(of_ended_, sum);
  return sum;
}

double CpuWaits::by_others() {
  if (accounted_) watch_new();
  const Waits now = so_far(), before = std::exchange(asked_, now);
  const auto begun = std::exchange(when_, Clock::now());
  others_ += holdfast::by_others(
      {.seconds = std::max(now.seconds - before.seconds, 0.0), .times = now.times - before.times},
      std::chrono::duration<double>(when_ - begun).count(), others_work_.ran());
  return others_;
}

}  // namespace holdfast
