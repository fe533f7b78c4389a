// SPDX-License-Identifier: Apache-2.0
// Keeps CPUs awake while a case is measured. An idle CPU is halted, and a thread sleeping on it
// wakes later than on a busy one: a step of many short parallel loops would then be slower on a
// quiet machine than on a busy one, unlike a step of one loop.
#pragma once

#include <sched.h>
#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <ctime>
#include <thread>
#include <vector>

namespace holdfast {

// These CPUs, if `threads` threads fill them; else none: a spinning thread may occupy the other
// half of a measured thread's core.
std::vector<int> cpus_filled_by(const cpu_set_t& allowed, int threads);

// A thread on each CPU. Between begin() and end() it spins in the lowest scheduling class
// (SCHED_IDLE, sched(7)): within its cgroup or autogroup it gets the CPU only if nobody else wants
// it. Otherwise it sleeps in the normal class, because a process ends with its last thread, and
// beside computing programs a thread of the lowest class takes a second to end.
class Keepers {
 public:
  // Throws std::system_error if the system refuses a thread, or refuses to let it leave that class.
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
    clockid_t clock = {};  // of its CPU time
  };
  void run(int cpu, Keeper& keeper);
  void change(State state);
  bool become(int policy) const;  // whether the system permits it for all

  std::atomic<State> state_ = State::asleep;
  std::vector<Keeper> keepers_;
  std::atomic<std::size_t> ready_ = 0;
  std::vector<std::jthread> running_ = {};
};

// Those of this process; its main thread makes and reads them.
const std::vector<const Keepers*>& all_keepers();

// Keeps the CPUs of this process awake for as long as it lives; one at a time.
class KeptAwake {
 public:
  // False if it would cost anything: the team does not fill the CPUs, a container's quota does not
  // exceed them, the kernel does not report which thread waited, the system does not let a thread
  // leave its class again (CAP_SYS_NICE), or the process was started with a class or a niceness
  // hardly above theirs. Then no CPUs are kept awake.
  static bool may_be();

  KeptAwake();
  KeptAwake(const KeptAwake&) = delete;
  KeptAwake& operator=(const KeptAwake&) = delete;
  ~KeptAwake();
};

}  // namespace holdfast
