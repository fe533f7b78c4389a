// SPDX-License-Identifier: Apache-2.0
#include "runtime/count/worker.hpp"

#include <utility>

#include "runtime/count/recorder.hpp"

namespace holdfast {
namespace {

thread_local Worker* latest = nullptr;

}  // namespace

std::shared_ptr<Employer> Employer::here() {
  thread_local const auto employer = std::make_shared<Employer>();
  return employer;
}

void Employer::record(Recorder& recorder, std::uint64_t recording) {
  const std::lock_guard lock(mutex_);
  recorder_ = &recorder;
  recording_ = recording;
}

void Employer::stop() noexcept {
  const std::lock_guard lock(mutex_);
  recorder_ = nullptr;
  recording_ = 0;
}

Worker::Worker(std::shared_ptr<Employer> employer, std::string_view name)
    : employer_(std::move(employer)), name_(name), before_(std::exchange(latest, this)) {}

Worker::~Worker() {
  latest = before_;
}

Worker* Worker::here() {
  return latest;
}

Worker::Place Worker::open_scope(std::string_view name) {
  const std::lock_guard lock(employer_->mutex_);
  if (!employer_->recorder_) return {};
  Recorder& recorder = *employer_->recorder_;
  const std::size_t track = recorder.track_of(std::this_thread::get_id(), name_);
  return {employer_->recording_, track, recorder.open_scope_of_worker(track, name)};
}

void Worker::close_scope(const Place& place) {
  const std::lock_guard lock(employer_->mutex_);
  if (place.recording == employer_->recording_)
    employer_->recorder_->close_scope_of_worker(place.track, place.scope);
}

}  // namespace holdfast
