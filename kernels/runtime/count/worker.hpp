// SPDX-License-Identifier: Apache-2.0
// Worker threads, which touch no backend: a Recording of the thread that they work for keeps the
// scopes that they open, on a track of their own.
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

// A thread as those see it that work for it, whether it records or not.
class Employer {
 public:
  static std::shared_ptr<Employer> here();  // the calling thread

  // Of a recording, whose number is not 0; none from stop() on.
  void record(Recorder& recorder, std::uint64_t recording);
  void stop() noexcept;

 private:
  friend class Worker;
  std::mutex mutex_ = {};
  Recorder* recorder_ = nullptr;
  std::uint64_t recording_ = 0;
};

// The calling thread works for another while this lives. Its scopes appear under `name`, together
// with those of whatever else it did under that name.
class Worker {
 public:
  Worker(std::shared_ptr<Employer> employer, std::string_view name);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  static Worker* here();  // the calling thread's latest; null where it works for none

  // Where a scope lies: in the recording of a number, of which 0 is none.
  struct Place {
    std::uint64_t recording = 0;
    std::size_t track = 0, scope = 0;
  };
  Place open_scope(std::string_view name);
  void close_scope(const Place& place);  // unless its recording is over

 private:
  std::shared_ptr<Employer> employer_;
  std::string_view name_;
  Worker* before_;
};

}  // namespace holdfast
