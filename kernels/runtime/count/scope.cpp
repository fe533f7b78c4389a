// SPDX-License-Identifier: Apache-2.0
#include "runtime/count/scope.hpp"

#include <algorithm>
#include <atomic>

#include "runtime/base/error.hpp"
#include "runtime/count/nvtx.hpp"
#include "runtime/count/recorder.hpp"

namespace holdfast {
namespace {

thread_local Recorder* listener = nullptr;
// The number of the current recording, by which a scope recognises its own.
thread_local std::uint64_t recording = 0;
thread_local const Scope* innermost = nullptr;

}  // namespace

void listen_to_scopes(Recorder& recorder) {
  static std::atomic<std::uint64_t> recordings = 0;
  if (listener)
    throw Error(Fault::broken_rule,
                "a recording is already open on this thread: stop it before the next");
  listener = &recorder;
  recording = ++recordings;
  Employer::here()->record(recorder, recording);
}

void ignore_scopes() noexcept {
  listener = nullptr;
  recording = 0;
  Employer::here()->stop();
}

Scope::Scope(std::string_view name) : name_(name), around_(innermost) {
  innermost = this;
  if (nvtx_listens) begin_nvtx_range(name);
  if (listener)
    place_ = {.recording = recording, .scope = listener->open_scope(name)};
  else if (Worker* worker = Worker::here())
    place_ = worker->open_scope(name);
}

Scope::~Scope() {
  // A recording that ended inside this scope ended the scope, too.
  if (place_.recording != 0) {
    if (place_.recording == recording)
      listener->close_scope(place_.scope);
    else if (Worker* worker = Worker::here())
      worker->close_scope(place_);
  }
  if (nvtx_listens) end_nvtx_range();
  innermost = around_;
}

std::string scope_path() {
  std::string path;
  for (const std::string& name : open_scopes()) path += (path.empty() ? "" : "/") + name;
  return path;
}

std::vector<std::string> open_scopes(std::size_t without) {
  std::vector<std::string> names;
  for (const auto* scope = innermost; scope; scope = scope->around_)
    names.emplace_back(scope->name_);
  std::reverse(names.begin(), names.end());
  names.erase(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(without));
  return names;
}

}  // namespace holdfast
