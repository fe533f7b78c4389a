// SPDX-License-Identifier: Apache-2.0
// CPUs that are kept awake while a case is measured. One with nothing to do is halted, and what
// sleeps on it wakes later than where any program runs: a step of many short parallel loops is then
// slower on a quiet machine than on a busy one, and a step of one loop is not.
#pragma once

#include <sched.h>
#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <ctime>
#include <thread>
#include <vector>

namespace holdfast {

// These CPUs, where so many threads fill them; else none: what spins beside fewer threads may be on
// the other half of their core.
std::vector<int> cpus_filled_by(const cpu_set_t& allowed, int threads);

// A thread on each CPU. Between begin() and end() it spins and is of the lowest class of scheduling
// (SCHED_IDLE, sched(7)): within its group of processes it has the CPU where nobody else wants it.
// Otherwise it sleeps and is as any other, for a process ends with the last of its threads, and
// beside programs that compute one of that class takes a second to.
class Keepers {
 public:
  // Throws std::system_error where the system refuses a thread, or to let it leave that class.
  explicit Keepers(const std::vector<int>& cpus);
  Keepers(const Keepers&) = delete;
  Keepers& operator=(const Keepers&) = delete;
  ~Keepers();

  void begin();
  void end();
  std::vector<pid_t> threads() const;
  double cpu_seconds() const;  // of all of them so far

 private:
  enum class State { asleep, awake, over };
  struct Keeper {
    pid_t id = 0;
    clockid_t clock = {};  // of its CPU seconds
  };
  void run(int cpu, Keeper& keeper);
  void change(State state);
  bool become(int policy) const;  // whether the system lets all of them

  std::atomic<State> state_ = State::asleep;
  std::vector<Keeper> keepers_;
  std::atomic<std::size_t> ready_ = 0;
  std::vector<std::jthread> running_ = {};
};

// Of this process; its main thread makes and asks for them.
const std::vector<const Keepers*>& all_keepers();

// The CPUs of this process, for as long as it lives; of one at a time.
class KeptAwake {
 public:
  // False where it would cost anything: where the team does not fill the CPUs, a container may have
  // no more than all of their time, the kernel does not tell which thread waited, the system does
  // not let a thread leave its class again (CAP_SYS_NICE), or somebody began the process with a
  // class or a niceness that is hardly above theirs. None are kept awake there.
  static bool may_be();

  KeptAwake();
  KeptAwake(const KeptAwake&) = delete;
  KeptAwake& operator=(const KeptAwake&) = delete;
  ~KeptAwake();
};

}  // namespace holdfast
