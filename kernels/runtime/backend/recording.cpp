// SPDX-License-Identifier: Apache-2.0
#include "runtime/backend/recording.hpp"

#include <exception>
#include <utility>

#include "runtime/base/error.hpp"
#include "runtime/base/log.hpp"
#include "runtime/count/recorder.hpp"

namespace holdfast {

Recording::Recording(Backend& backend, RecordingLimits limits)
    : backend_(&backend), recorder_(std::make_unique<Recorder>(backend.ledger, limits)) {
  if (backend.ledger.recorder)
    throw Error(Fault::broken_rule,
                text("backend ", backend.name, " is being recorded already: stop that recording"));
  listen_to_scopes(*recorder_);
  try {
    if (backend.device) recorder_->listen_to(backend.device->open_trace(recorder_->start()));
  } catch (...) {
    ignore_scopes();
    throw;
  }
  backend.ledger.recorder = recorder_.get();
}

Recording::~Recording() {
  try {
    stop();
  } catch (const std::exception& error) {
    try {
      log(LogLevel::warn, error.what());
    } catch (...) {  // no memory even for a log line: nothing left to do
    }
  }
}

void Recording::stop() {
  if (!backend_) return;
  auto& backend = *std::exchange(backend_, nullptr);
  backend.ledger.recorder = nullptr;
  ignore_scopes();
  if (backend.device) backend.device->drain();
  recorder_->finish();
}

double Recording::now() const {
  return recorder_->now();
}
const std::vector<Activity>& Recording::activities() const {
  return recorder_->activities;
}
const std::vector<DeviceSlice>& Recording::slices() const {
  return recorder_->slices;
}
const std::vector<ScopeRecord>& Recording::scopes() const {
  return recorder_->own.scopes;
}
const std::vector<WorkerTrack>& Recording::workers() const {
  return recorder_->workers;
}
std::optional<DeviceCounts> Recording::device_counts() const {
  return recorder_->device_counts;
}
std::size_t Recording::dropped() const {
  return recorder_->dropped;
}
std::optional<std::string> Recording::device_silence() const {
  return recorder_->silence;
}

}  // namespace holdfast
