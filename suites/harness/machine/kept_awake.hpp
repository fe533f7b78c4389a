// SPDX-License-Identifier: Apache-2.0
// CPUs that are kept awake while a case is measured. One with nothing to do is halted, and what
// sleeps on it wakes later than where any program runs: a step of many short parallel loops is
// then slower on a quiet machine than on a busy one, and one of a single loop is not.
#pragma once

#include <sched.h>
#include <sys/types.h>

#include <atomic>
#include <thread>
#include <vector>

namespace holdfast {

// These CPUs, where so many threads fill them; else none: what spins beside fewer threads may be on
// the other half of their core.
std::vector<int> cpus_filled_by(const cpu_set_t& allowed, int threads);

// Whether CPUs that are halted wake what sleeps on them so much later than others that steps show.
bool worth_keeping_awake(double wake_up_when_halted, double wake_up_when_awake);

// A thread on each CPU, of the lowest class of scheduling (SCHED_IDLE, sched(7)): it has the CPU
// where nobody else wants it. They sleep but between begin() and end().
class Keepers {
 public:
  explicit Keepers(const std::vector<int>& cpus);
  Keepers(const Keepers&) = delete;
  Keepers& operator=(const Keepers&) = delete;
  ~Keepers();

  void begin();
  void end();
  const std::vector<pid_t>& threads() const { return threads_; }
  double cpu_seconds() const;  // of all of them so far

 private:
  enum State { asleep, awake, over };
  void run(int cpu, std::size_t place);
  void change(State state);

  std::atomic<State> state_ = asleep;
  std::vector<pid_t> threads_;
  std::atomic<std::size_t> ready_ = 0;
  std::vector<std::jthread> running_ = {};
};

// This machine's, for as long as it lives; nothing where its CPUs wake soon enough.
class KeptAwake {
 public:
  KeptAwake();
  KeptAwake(const KeptAwake&) = delete;
  KeptAwake& operator=(const KeptAwake&) = delete;
  ~KeptAwake();
};

// What this process has and does without its keepers: threads, and the seconds of a CPU that they
// computed.
std::vector<pid_t> working_threads();
double working_cpu_seconds();

}  // namespace holdfast
