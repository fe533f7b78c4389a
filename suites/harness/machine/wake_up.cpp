// SPDX-License-Identifier: Apache-2.0
#include "harness/machine/wake_up.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <ranges>
#include <thread>

#include "harness/machine/threads_apart.hpp"

namespace holdfast {
namespace {

using Clock = std::chrono::steady_clock;

// As a parallel loop leaves its threads for some work of one.
constexpr std::chrono::microseconds asleep(100);
constexpr std::size_t enough_calls = 20;
constexpr int enough_cpus = 4;
constexpr std::chrono::milliseconds long_enough(10);

// Sleeps on its CPU until it is called, and notes when it woke.
class Sleeper {
 public:
  explicit Sleeper(int cpu) : thread_([this, cpu] { run(cpu); }) {}
  Sleeper(const Sleeper&) = delete;
  Sleeper& operator=(const Sleeper&) = delete;
  ~Sleeper() {
    over_ = true;
    (void)seconds_to_wake();
  }

  double seconds_to_wake() {
    const Clock::rep before = woken_;
    const auto called = Clock::now();
    ++calls_;
    calls_.notify_one();
    while (woken_ == before) continue;
    return std::chrono::duration<double>(Clock::duration(woken_) - called.time_since_epoch())
        .count();
  }

 private:
  void run(int cpu) {
    stay_on({cpu});
    for (int seen = 0; !over_; ++seen) {
      calls_.wait(seen);
      woken_ = Clock::now().time_since_epoch().count();
    }
  }

  std::atomic<int> calls_ = 0;
  std::atomic<Clock::rep> woken_ = 0;
  std::atomic<bool> over_ = false;
  std::jthread thread_;
};

double median_of_calls(Sleeper& sleeper) {
  std::vector<double> taken;
  for (const auto start = Clock::now(); taken.empty() || Clock::now() - start < long_enough;) {
    for (const auto rest = Clock::now(); Clock::now() - rest < asleep;) continue;
    taken.push_back(sleeper.seconds_to_wake());
    if (taken.size() == enough_calls) break;
  }
  std::ranges::nth_element(taken, taken.begin() + std::ssize(taken) / 2);
  return taken[taken.size() / 2];
}

}  // namespace

double seconds_to_wake(int cpu, const std::vector<int>& cpus) {
  double seconds = 0;
  std::jthread caller([&] {
    std::vector<int> others = cpus;
    std::erase(others, cpu);
    stay_on(others);
    Sleeper sleeper(cpu);
    seconds = median_of_calls(sleeper);
  });
  caller.join();
  return seconds;
}

double slowest_wake_up(const std::vector<int>& cpus) {
  double slowest = 0;
  for (const int cpu : cpus | std::views::take(enough_cpus))
    slowest = std::max(slowest, seconds_to_wake(cpu, cpus));
  return slowest;
}

}  // namespace holdfast
