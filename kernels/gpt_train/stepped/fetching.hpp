// SPDX-License-Identifier: Apache-2.0
// Batches as training steps ask for them, made when they are asked for or before, by a thread of
// its own that touches no backend.
#pragma once

#include <array>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "computation.hpp"
#include "gpt_train/data/data.hpp"
#include "gpt_train/problem/problem.hpp"

namespace holdfast::gpt_train {

struct Fetched {
  Batch batch = {};
  Targets targets = {};
  std::uint64_t checksum = 0;  // of the rounds of all tokens
};
Fetched fetched(const Options& options, std::int64_t step);

// A thread that fills two slots in turn: what step s reads lies in slot s % 2. A slot is filled
// anew once it was given back.
class FetchWorker {
 public:
  using Fill = std::function<void(std::int64_t step, std::size_t slot)>;
  static constexpr std::size_t slots = 2;

  explicit FetchWorker(Fill fill);
  ~FetchWorker();
  FetchWorker(const FetchWorker&) = delete;
  FetchWorker& operator=(const FetchWorker&) = delete;

  // From here on it fills nothing, and then all slots anew from a step on.
  void halt();
  void begin(std::int64_t step);
  bool runs() const { return running_; }

  // Waits until what the step reads is there; steps follow one another. Throws what filling did.
  void take(std::int64_t step);
  void give_back(std::int64_t step);
  double waited_seconds() const { return waited_; }

 private:
  enum class State { free, filled, taken };
  void work();
  State& state_of(std::int64_t step) { return states_[static_cast<std::size_t>(step) % slots]; }

  Fill fill_;
  double waited_ = 0;
  std::mutex mutex_ = {};
  std::condition_variable changed_ = {};
  std::array<State, slots> states_ = {};
  std::int64_t next_ = 0;  // step to fill
  bool running_ = false, busy_ = false, ending_ = false;
  std::exception_ptr failure_ = {};
  std::thread thread_;  // last: it uses all the others
};

// The batches of a host, in memory of their own.
class Batches {
 public:
  explicit Batches(const Options& options, bool ahead);

  void halt();
  void begin_again();
  // The batch of a step; use(fetched) has copied what it needs when it returns.
  template <class Use>
  void of(std::int64_t step, const Use& use) {
    const bool worker = worker_ && worker_->runs();
    Fetched& here = slots_[static_cast<std::size_t>(step) % FetchWorker::slots];
    if (worker)
      worker_->take(step);
    else
      here = fetched(options_, step);
    use(std::as_const(here));
    checksum_ += here.checksum;
    if (worker) worker_->give_back(step);
  }

  std::uint64_t checksum() const { return checksum_; }
  double waited_seconds() const { return worker_ ? worker_->waited_seconds() : 0; }

 private:
  Options options_;
  std::array<Fetched, FetchWorker::slots> slots_ = {};
  std::uint64_t checksum_ = 0;  // of all steps so far
  std::unique_ptr<FetchWorker> worker_ = {};
};

// Not inline, as nothing that is compiled for each instruction set may be.
bool trains_ahead(const Problem& problem);
// What a training step tells of its fetching, where that is looked at: seconds waited for batches,
// and the last 32 bits of the checksum of all of them, each since the first step.
std::vector<NamedReading> told_of_fetching(const Problem& problem, double waited_seconds,
                                           std::uint64_t checksum);

}  // namespace holdfast::gpt_train
