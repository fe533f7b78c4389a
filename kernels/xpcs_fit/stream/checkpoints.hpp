// SPDX-License-Identifier: Apache-2.0
// Checkpoints that survive: written beside, synced, renamed, their folder synced, by a thread of
// their own. A process that is killed at any moment leaves the file before or the file after.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "xpcs_fit/stream/background_writer.hpp"

namespace holdfast::xpcs_fit {

std::uint64_t fnv1a(std::string_view text);

class Checkpoints {
 public:
  // A file of another configuration is none of ours. The last `keep` are kept. Throws
  // Error{bad_input} that begins with checkpoint_io where the folder cannot be written.
  // `before_write` is called by the thread that writes.
  Checkpoints(std::filesystem::path folder, std::string_view configuration, int keep = 3,
              std::function<void()> before_write = {});

  // Hands it over and goes on. What the thread has not begun to write yet is replaced.
  void save(std::string payload) { writer_.save(std::move(payload)); }
  // Until all that was handed over is written; throws what writing met.
  void drain();

  // The payload of the newest file that is whole and ours; a warning tells of each that is not.
  std::optional<std::string> newest() const;
  const std::vector<double>& seconds() const { return writer_.seconds(); }  // after drain()

 private:
  std::string write(const std::string& payload);  // what went wrong, or nothing
  void delete_old() const;
  std::vector<std::filesystem::path> files() const;  // newest first

  std::filesystem::path folder_;
  std::uint64_t configuration_;
  int keep_;
  std::function<void()> before_write_;
  std::uint64_t sequence_ = 0;
  BackgroundWriter writer_;  // last: its thread uses all the others
};

}  // namespace holdfast::xpcs_fit
