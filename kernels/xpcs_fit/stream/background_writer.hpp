// SPDX-License-Identifier: Apache-2.0
// Writes contents on a separate thread, so that the caller never waits for a disk.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace holdfast::xpcs_fit {

class BackgroundWriter {
 public:
  // The thread calls `write` for one content at a time; it returns an error message, or an empty
  // one.
  using Write = std::function<std::string(const std::string& content)>;
  explicit BackgroundWriter(Write write);
  ~BackgroundWriter();  // writes what is still pending
  BackgroundWriter(const BackgroundWriter&) = delete;
  BackgroundWriter& operator=(const BackgroundWriter&) = delete;

  // Hands a content over and returns. Replaces one that the thread has not begun to write.
  void save(std::string content);
  // Waits until everything handed over is written. Returns the last error message, or an empty one.
  std::string drain();
  // The seconds of each write so far; valid after drain().
  const std::vector<double>& seconds() const { return seconds_; }

 private:
  void work();

  Write write_;
  std::vector<double> seconds_ = {};
  std::mutex mutex_ = {};
  std::condition_variable changed_ = {};
  std::optional<std::string> pending_ = {};
  bool busy_ = false, ending_ = false;
  std::string failure_ = {};
  std::thread thread_;  // last: it uses all other members
};

}  // namespace holdfast::xpcs_fit
