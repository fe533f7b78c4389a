// SPDX-License-Identifier: Apache-2.0
// Writes on a thread of its own what is handed over, so that who hands it over never waits for a
// disk.
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
  // `write` is called by the thread, for one content at a time; returns what went wrong, or
  // nothing.
  using Write = std::function<std::string(const std::string& content)>;
  explicit BackgroundWriter(Write write);
  ~BackgroundWriter();  // writes what is still to be written
  BackgroundWriter(const BackgroundWriter&) = delete;
  BackgroundWriter& operator=(const BackgroundWriter&) = delete;

  // Hands it over and goes on. What the thread has not begun to write yet is replaced.
  void save(std::string content);
  // Waits until all that was handed over is written. Returns what went wrong last, or nothing.
  std::string drain();
  // How long each write so far took; to be asked after drain().
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
  std::thread thread_;  // last: it uses all the others
};

}  // namespace holdfast::xpcs_fit
