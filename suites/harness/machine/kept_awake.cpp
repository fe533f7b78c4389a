// SPDX-License-Identifier: Apache-2.0
#include "harness/machine/kept_awake.hpp"

#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include "base/text.hpp"
#include "harness/machine/cpu_quota.hpp"
#include "harness/machine/threads_apart.hpp"
#include "runtime/backend/host_limits.hpp"
#include "runtime/base/log.hpp"

namespace holdfast {
namespace {

std::vector<const Keepers*>& registered() {
  static std::vector<const Keepers*> all;
  return all;
}

bool is_hardly_above_the_lowest_class() {
  return ::sched_getscheduler(0) == SCHED_IDLE || ::getpriority(PRIO_PROCESS, 0) > 0;
}

// If the kernel does not report each thread's waits, those of keepers would count as the team's.
bool tells_waits() {
  return std::filesystem::exists("/proc/self/schedstat");
}

std::vector<int> cpus_to_keep_awake() {
  cpu_set_t allowed;
  if (is_hardly_above_the_lowest_class() || !tells_waits() ||
      ::sched_getaffinity(0, sizeof allowed, &allowed) != 0)
    return {};
  const auto quota = cpu_quota();
  if (quota && *quota <= CPU_COUNT(&allowed)) return {};
  return cpus_filled_by(allowed, host_limits().threads);
}

// Never destroyed: the threads end with the process; a forked child would wait for them in vain.
Keepers* of_this_process() {
  static Keepers* const keepers = []() -> Keepers* {
    try {
      const std::vector<int> cpus = cpus_to_keep_awake();
      return cpus.empty() ? nullptr : new Keepers(cpus);
    } catch (const std::system_error& refusal) {
      log(LogLevel::info, text("CPUs are not kept awake: ", refusal.what()));
      return nullptr;
    }
  }();
  return keepers;
}

}  // namespace

std::vector<int> cpus_filled_by(const cpu_set_t& allowed, int threads) {
  std::vector<int> cpus;
  if (CPU_COUNT(&allowed) > threads) return cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &allowed)) cpus.push_back(cpu);
  return cpus;
}

Keepers::Keepers(const std::vector<int>& cpus) : keepers_(cpus.size()) {
  try {
    for (const int cpu : cpus)
      running_.emplace_back([this, cpu, place = running_.size()] { run(cpu, keepers_[place]); });
    for (std::size_t ready = ready_; ready < cpus.size(); ready = ready_) ready_.wait(ready);
    if (!become(SCHED_IDLE) || !become(SCHED_OTHER))
      throw std::system_error(errno, std::generic_category(), "SCHED_IDLE and back");
  } catch (...) {
    change(State::over);
    throw;
  }
  registered().push_back(this);
}

Keepers::~Keepers() {
  std::erase(registered(), this);
  change(State::over);
}

void Keepers::run(int cpu, Keeper& keeper) {
  stay_on({cpu});
  keeper.id = ::gettid();
  (void)::pthread_getcpuclockid(::pthread_self(), &keeper.clock);
  ++ready_;
  ready_.notify_one();
  while (state_ != State::over) {
    state_.wait(State::asleep);
    while (state_.load(std::memory_order_relaxed) == State::awake) __builtin_ia32_pause();
  }
}

void Keepers::change(State state) {
  state_ = state;
  state_.notify_all();
}

bool Keepers::become(int policy) const {
  const sched_param none = {};
  return std::ranges::all_of(keepers_, [&](const Keeper& keeper) {
    return ::sched_setscheduler(keeper.id, policy, &none) == 0;
  });
}

void Keepers::begin() {
  (void)become(SCHED_IDLE);
  change(State::awake);
}

void Keepers::end() {
  change(State::asleep);
  (void)become(SCHED_OTHER);
}

std::vector<pid_t> Keepers::threads() const {
  std::vector<pid_t> threads;
  for (const Keeper& keeper : keepers_) threads.push_back(keeper.id);
  return threads;
}

double Keepers::cpu_seconds() const {
  double sum = 0;
  for (const Keeper& keeper : keepers_) {
    timespec time = {};
    if (::clock_gettime(keeper.clock, &time) == 0)
      sum += static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  }
  return sum;
}

const std::vector<const Keepers*>& all_keepers() {
  return registered();
}

bool KeptAwake::may_be() {
  return of_this_process() != nullptr;
}

KeptAwake::KeptAwake() {
  if (Keepers* const keepers = of_this_process()) keepers->begin();
}

KeptAwake::~KeptAwake() {
  if (Keepers* const keepers = of_this_process()) keepers->end();
}

}  // namespace holdfast
