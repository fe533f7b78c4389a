// SPDX-License-Identifier: Apache-2.0
#include "gpt_train/stepped/fetching.hpp"

#include <chrono>

#include "base/time.hpp"
#include "gpt_train/data/hash.hpp"

namespace holdfast::gpt_train {

Fetched fetched(const Options& options, std::int64_t step) {
  Fetched all = {.batch = batch_of(options, step)};
  all.targets = targets_of(options.shape, all.batch);
  for (const int token : all.batch.tokens) {
    auto value = static_cast<std::uint64_t>(token);
    for (int round = 0; round < options.fetching.rounds; ++round) value = mix64(value);
    all.checksum += value;
  }
  return all;
}

FetchWorker::FetchWorker(Fill fill)
    : fill_(std::move(fill)), thread_([this, employer = Employer::here()] {
        const Worker worker(employer, "fetch ahead");
        work();
      }) {}

FetchWorker::~FetchWorker() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void FetchWorker::halt() {
  std::unique_lock lock(mutex_);
  running_ = false;
  changed_.wait(lock, [&] { return !busy_; });
}

void FetchWorker::begin(std::int64_t step) {
  halt();
  {
    const std::lock_guard lock(mutex_);
    states_.fill(State::free);
    next_ = step;
    failure_ = nullptr;
    waited_ = 0;
    running_ = true;
  }
  changed_.notify_all();
}

void FetchWorker::take(std::int64_t step) {
  const auto begun = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return failure_ || state_of(step) == State::filled; });
  waited_ += seconds_since(begun);
  if (failure_) std::rethrow_exception(failure_);
  state_of(step) = State::taken;
}

void FetchWorker::give_back(std::int64_t step) {
  {
    const std::lock_guard lock(mutex_);
    state_of(step) = State::free;
  }
  changed_.notify_all();
}

void FetchWorker::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(
        lock, [&] { return ending_ || (running_ && !failure_ && state_of(next_) == State::free); });
    if (ending_) return;
    const std::int64_t step = next_;
    busy_ = true;
    lock.unlock();
    std::exception_ptr failure;
    try {
      const Scope scope("fetch_batch");
      fill_(step, static_cast<std::size_t>(step) % slots);
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    busy_ = false;
    failure_ = failure;
    if (running_ && !failure) {
      state_of(step) = State::filled;
      next_ = step + 1;
    }
    changed_.notify_all();
  }
}

Batches::Batches(const Options& options, bool ahead) : options_(options) {
  if (ahead)
    worker_ = std::make_unique<FetchWorker>(
        [this](std::int64_t step, std::size_t slot) { slots_[slot] = fetched(options_, step); });
}

void Batches::halt() {
  if (worker_) worker_->halt();
}
void Batches::begin_again() {
  checksum_ = 0;
  if (worker_) worker_->begin(0);
}

bool trains_ahead(const Problem& problem) {
  return problem.unit == Unit::train_step && problem.options.fetching.ahead;
}

std::vector<NamedReading> told_of_fetching(const Problem& problem, double waited_seconds,
                                           std::uint64_t checksum) {
  if (problem.unit != Unit::train_step || problem.options.fetching.rounds == 0) return {};
  return {{"data_wait_s", waited_seconds}, {"fetch_checksum", double(checksum & 0xffffffff)}};
}

}  // namespace holdfast::gpt_train
