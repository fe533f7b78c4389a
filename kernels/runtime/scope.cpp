// SPDX-License-Identifier: Apache-2.0
#include "runtime/scope.hpp"

#include "runtime/error.hpp"

namespace holdfast {
namespace {

thread_local ScopeRecording* current = nullptr;

double seconds_between(std::chrono::steady_clock::time_point begin,
                       std::chrono::steady_clock::time_point end) {
  return std::chrono::duration<double>(end - begin).count();
}

}  // namespace

ScopeRecording::ScopeRecording() {
  if (current)
    throw Error(Fault::broken_rule,
                "a scope recording is already open on this thread: close it before the next");
  current = this;
}

ScopeRecording::~ScopeRecording() {
  current = nullptr;
}

Scope::Scope(std::string_view name) : recording_(current), name_(name) {
  if (!recording_) return;
  ++recording_->depth_;
  begin_ = std::chrono::steady_clock::now();
}

Scope::~Scope() {
  // A recording that ended inside this scope took its records along.
  if (!recording_ || recording_ != current) return;
  const auto end = std::chrono::steady_clock::now();
  --recording_->depth_;
  recording_->records_.push_back({.name = std::string(name_),
                                  .depth = recording_->depth_,
                                  .begin = seconds_between(recording_->start_, begin_),
                                  .end = seconds_between(recording_->start_, end)});
}

}  // namespace holdfast
