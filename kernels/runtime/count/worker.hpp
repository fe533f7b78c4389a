// SPDX-License-Identifier: Apache-2.0
// Worker threads, which do not use a backend: a Recording of the thread that they work for keeps
// their scopes on separate tracks.
//
//   std::thread([employer = Employer::here()] {
//     const Worker worker(employer, "fetch");
//     const Scope scope("batch");
//   })
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>

namespace holdfast {

class Recorder;

// A thread from the view of its workers, whether it records or not.
class Employer {
 public:
  static std::shared_ptr<Employer> here();  // the calling thread

  // Begins a recording with a nonzero number; there is none after stop().
  void record(Recorder& recorder, std::uint64_t recording);
  void stop() noexcept;

 private:
  friend class Worker;
  std::mutex mutex_ = {};
  Recorder* recorder_ = nullptr;
  std::uint64_t recording_ = 0;
};

// While this lives the calling thread works for another. Its scopes appear under `name`, together
// with those of anything else it did under that name.
class Worker {
 public:
  Worker(std::shared_ptr<Employer> employer, std::string_view name);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  static Worker* here();  // the calling thread's latest; null if none

  // Location of a scope, in the recording with the number `recording`; 0 means none.
  struct Place {
    std::uint64_t recording = 0;
    std::size_t track = 0, scope = 0;
  };
  Place open_scope(std::string_view name);
  void close_scope(const Place& place);  // unless its recording has ended

 private:
  std::shared_ptr<Employer> employer_;
  std::string_view name_;
  Worker* before_;
};

}  // namespace holdfast
