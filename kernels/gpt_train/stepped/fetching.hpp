// SPDX-License-Identifier: Apache-2.0
// Batches for training steps, made on demand or ahead by a separate thread that touches no backend.
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
#include "runtime/count/scope.hpp"

namespace holdfast::gpt_train {

struct Fetched {
  Batch batch = {};
  Targets targets = {};
  std::uint64_t checksum = 0;  // over the rounds of all tokens
};
Fetched fetched(const Options& options, std::int64_t step);

// A thread that fills two slots alternately: the input of step s lies in slot s % 2. A slot is
// refilled once it is given back.
class FetchWorker {
 public:
  using Fill = std::function<void(std::int64_t step, std::size_t slot)>;
  static constexpr std::size_t slots = 2;

  explicit FetchWorker(Fill fill);
  ~FetchWorker();
  FetchWorker(const FetchWorker&) = delete;
  FetchWorker& operator=(const FetchWorker&) = delete;

  // halt() stops filling; begin() fills all slots again, from a step on.
  void halt();
  void begin(std::int64_t step);
  bool runs() const { return running_; }

  // Waits until the input of the step is ready; steps are consecutive. Rethrows an error from
  // filling.
  void take(std::int64_t step);
  void give_back(std::int64_t step);
  double waited_seconds() const { return waited_; }  // since begin()

 private:
  enum class State { free, filled, taken };
  void work();
  State& state_of(std::int64_t step) { return states_[static_cast<std::size_t>(step) % slots]; }

  Fill fill_;
  double waited_ = 0;
  std::mutex mutex_ = {};
  std::condition_variable changed_ = {};
  std::array<State, slots> states_ = {};
  std::int64_t next_ = 0;  // the next step to fill
  bool running_ = false, busy_ = false, ending_ = false;
  std::exception_ptr failure_ = {};
  std::thread thread_;  // last: it uses all other members
};

// The batches of a host, in their own memory.
class Batches {
 public:
  explicit Batches(const Options& options, bool ahead);

  void halt();
  void begin_again();
  // Passes the batch of a step to use(fetched), which must copy what it needs before it returns.
  template <class Use>
  void of(std::int64_t step, const Use& use) {
    const bool worker = worker_ && worker_->runs();
    Fetched& here = slots_[static_cast<std::size_t>(step) % FetchWorker::slots];
    {
      const Scope scope("fetch_batch");
      if (worker)
        worker_->take(step);
      else
        here = fetched(options_, step);
    }
    use(std::as_const(here));
    checksum_ += here.checksum;
    if (worker) worker_->give_back(step);
  }

  std::uint64_t checksum() const { return checksum_; }
  double waited_seconds() const { return worker_ ? worker_->waited_seconds() : 0; }

 private:
  Options options_;
  std::array<Fetched, FetchWorker::slots> slots_ = {};
  std::uint64_t checksum_ = 0;  // over all steps so far
  std::unique_ptr<FetchWorker> worker_ = {};
};

// Not inline, because nothing compiled per instruction set may be.
bool trains_ahead(const Problem& problem);
// A training step's readings of fetching, if measured: seconds waited for batches, and the last 32
// bits of their checksum, both since the first step.
std::vector<NamedReading> told_of_fetching(const Problem& problem, double waited_seconds,
                                           std::uint64_t checksum);

}  // namespace holdfast::gpt_train
