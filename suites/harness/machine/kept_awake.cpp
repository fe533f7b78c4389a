// SPDX-License-Identifier: Apache-2.0
#include "harness/machine/kept_awake.hpp"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <string>

#include "base/text.hpp"
#include "base/time.hpp"
#include "harness/machine/cpu_quota.hpp"
#include "harness/machine/threads_apart.hpp"
#include "harness/machine/wake_up.hpp"
#include "runtime/backend/host_limits.hpp"
#include "runtime/base/log.hpp"

namespace holdfast {
namespace {

// Of this process, asked for by one thread.
std::vector<const Keepers*>& all_keepers() {
  static std::vector<const Keepers*> all;
  return all;
}

// Beside a process that is of a low class itself they would take their share, and where a container
// has less than all of its CPUs' time, theirs would be missing.
std::vector<int> cpus_to_keep_awake() {
  const int policy = ::sched_getscheduler(0);
  cpu_set_t allowed;
  if (policy == SCHED_IDLE || policy == SCHED_BATCH ||
      ::sched_getaffinity(0, sizeof allowed, &allowed) != 0 ||
      cpu_quota().value_or(CPU_SETSIZE) <= CPU_COUNT(&allowed))
    return {};
  return cpus_filled_by(allowed, host_limits().threads);
}

Keepers* start_where_worth_it() {
  const std::vector<int> cpus = cpus_to_keep_awake();
  if (cpus.size() < 2) return nullptr;
  auto* const keepers = new Keepers(cpus);  // of the process: what is of the lowest class ends late
  const double halted = slowest_wake_up(cpus);
  keepers->begin();
  const double awake = slowest_wake_up(cpus);
  keepers->end();
  const auto microseconds = [](double seconds) { return std::lround(1e6 * seconds); };
  const bool worth = worth_keeping_awake(halted, awake);
  log(LogLevel::info, text("a thread wakes in ", microseconds(halted), " us, and in ",
                           microseconds(awake), " us on a CPU that is kept awake: ",
                           worth ? "they are, while a case is measured" : "they may be halted"));
  return worth ? keepers : nullptr;
}

// Those of this machine, where they are worth it.
Keepers* keepers() {
  static Keepers* const kept = start_where_worth_it();
  return kept;
}

}  // namespace

std::vector<int> cpus_filled_by(const cpu_set_t& allowed, int threads) {
  std::vector<int> cpus;
  if (CPU_COUNT(&allowed) > threads) return cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &allowed)) cpus.push_back(cpu);
  return cpus;
}

bool worth_keeping_awake(double wake_up_when_halted, double wake_up_when_awake) {
  constexpr double much_later = 1.3;
  return wake_up_when_halted > much_later * wake_up_when_awake;
}

Keepers::Keepers(const std::vector<int>& cpus) : threads_(cpus.size()) {
  for (const int cpu : cpus)
    running_.emplace_back([this, cpu, place = running_.size()] { run(cpu, place); });
  for (std::size_t ready = ready_; ready < cpus.size(); ready = ready_) ready_.wait(ready);
  const sched_param none = {};
  for (const pid_t thread : threads_) (void)::sched_setscheduler(thread, SCHED_IDLE, &none);
  all_keepers().push_back(this);
}

Keepers::~Keepers() {
  std::erase(all_keepers(), this);
  change(over);
}

void Keepers::run(int cpu, std::size_t place) {
  stay_on({cpu});
  threads_[place] = ::gettid();
  ++ready_;
  ready_.notify_one();
  while (state_ != over) {
    state_.wait(asleep);
    while (state_.load(std::memory_order_relaxed) == awake) __builtin_ia32_pause();
  }
}

void Keepers::change(State state) {
  state_ = state;
  state_.notify_all();
}

void Keepers::begin() {
  change(awake);
}

void Keepers::end() {
  change(asleep);
}

double Keepers::cpu_seconds() const {
  double sum = 0;
  for (const std::jthread& thread : running_) {
    clockid_t clock = {};
    timespec time = {};
    if (::pthread_getcpuclockid(const_cast<std::jthread&>(thread).native_handle(), &clock) == 0 &&
        ::clock_gettime(clock, &time) == 0)
      sum += static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  }
  return sum;
}

KeptAwake::KeptAwake() {
  if (keepers()) keepers()->begin();
}

KeptAwake::~KeptAwake() {
  if (keepers()) keepers()->end();
}

std::vector<pid_t> working_threads() {
  std::vector<pid_t> threads;
  std::error_code absent;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task", absent)) {
    const std::string number = thread.path().filename();
    pid_t id = 0;
    std::from_chars(number.data(), number.data() + number.size(), id);
    const auto is_of = [&](const Keepers* keepers) {
      return std::ranges::find(keepers->threads(), id) != keepers->threads().end();
    };
    if (std::ranges::none_of(all_keepers(), is_of)) threads.push_back(id);
  }
  return threads;
}

double working_cpu_seconds() {
  double seconds = process_cpu_seconds();
  for (const Keepers* keepers : all_keepers()) seconds -= keepers->cpu_seconds();
  return seconds;
}

}  // namespace holdfast
