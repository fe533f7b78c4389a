// SPDX-License-Identifier: Apache-2.0
#include "xpcs_fit/stream/background_writer.hpp"

#include <chrono>
#include <utility>

namespace holdfast::xpcs_fit {

BackgroundWriter::BackgroundWriter(Write write)
    : write_(std::move(write)), thread_([this] { work(); }) {}

BackgroundWriter::~BackgroundWriter() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void BackgroundWriter::save(std::string content) {
  {
    const std::lock_guard lock(mutex_);
    pending_ = std::move(content);
  }
  changed_.notify_all();
}

std::string BackgroundWriter::drain() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !busy_ && !pending_; });
  return std::exchange(failure_, {});
}

void BackgroundWriter::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return pending_ || ending_; });
    if (!pending_) return;
    const std::string content = std::move(*pending_);
    pending_.reset();
    busy_ = true;
    lock.unlock();
    const auto begin = std::chrono::steady_clock::now();
    std::string failure = write_(content);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    lock.lock();
    seconds_.push_back(took.count());
    if (!failure.empty()) failure_ = std::move(failure);
    busy_ = false;
    changed_.notify_all();
  }
}

}  // namespace holdfast::xpcs_fit
