// SPDX-License-Identifier: Apache-2.0
// Files that survive: written beside, synced, renamed, their folder synced, by a thread of their
// own. A process that is killed at any moment leaves the file before or the file after.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace holdfast::xpcs_fit {

std::uint32_t crc32c(std::string_view bytes);
std::uint64_t fnv1a(std::string_view text);

class Checkpoints {
 public:
  // A file of another configuration is none of ours. The last `keep` are kept. Throws
  // Error{bad_input} that begins with checkpoint_io where the folder cannot be written.
  // `before_write` is called by the thread that writes.
  Checkpoints(std::filesystem::path folder, std::string_view configuration, int keep = 3,
              std::function<void()> before_write = {});
  ~Checkpoints();
  Checkpoints(const Checkpoints&) = delete;
  Checkpoints& operator=(const Checkpoints&) = delete;

  // Hands it over and goes on. What the thread has not begun to write yet is replaced.
  void save(std::string payload);
  // Until all that was handed over is written; throws what writing met.
  void drain();

  // Of the newest file that is whole and ours; each that is not is told in a warning.
  std::optional<std::string> newest() const;
  const std::vector<double>& seconds() const { return seconds_; }  // of saves; after drain()

 private:
  void work();
  void write(const std::string& payload);
  void delete_old() const;
  std::vector<std::filesystem::path> files() const;  // newest first

  std::filesystem::path folder_;
  std::uint64_t configuration_;
  int keep_;
  std::function<void()> before_write_;
  std::uint64_t sequence_ = 0;
  std::vector<double> seconds_ = {};

  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<std::string> pending_ = {};
  bool busy_ = false, ending_ = false;
  std::string failure_ = {};
  std::thread thread_;  // last: it uses all the others
};

}  // namespace holdfast::xpcs_fit
