// SPDX-License-Identifier: Apache-2.0
// Checkpoints that survive crashes: written beside, synced, renamed, and their folder synced, by a
// separate thread. A process killed at any moment leaves either the old file or the new one.
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
  // Files of another configuration are never restored. The folder keeps its last `keep` files.
  // Throws Error{bad_input} that begins with checkpoint_io if the folder cannot be written. The
  // writing thread calls `before_write`.
  Checkpoints(std::filesystem::path folder, std::string_view configuration, int keep = 3,
              std::function<void()> before_write = {});

  // Hands a payload over and returns. Replaces one that the thread has not begun to write.
  void save(std::string payload) { writer_.save(std::move(payload)); }
  // Waits until everything handed over is written; throws if writing failed.
  void drain();

  // The payload of the newest valid file of this configuration; warns of each file that it skips.
  std::optional<std::string> newest();
  int skipped() const { return skipped_; }  // files, by the last newest()
  const std::vector<double>& seconds() const { return writer_.seconds(); }  // after drain()

 private:
  std::string write(const std::string& payload);  // returns an error message, or an empty one
  void delete_old() const;
  std::vector<std::filesystem::path> files() const;  // newest first

  std::filesystem::path folder_;
  std::uint64_t configuration_;
  int keep_;
  std::function<void()> before_write_;
  std::uint64_t sequence_ = 0;
  int skipped_ = 0;
  BackgroundWriter writer_;  // last: its thread uses all other members
};

}  // namespace holdfast::xpcs_fit
