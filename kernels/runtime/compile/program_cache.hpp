// SPDX-License-Identifier: Apache-2.0
// A cache of compiled programs: in this process's memory, and on disk under HOLDFAST_CACHE_DIR
// (default $XDG_CACHE_HOME/holdfast or ~/.cache/holdfast), created with mode 0700 and refused if
// others can write to it. An entry is bound to its key, and to HOLDFAST_CACHE_SECRET or, in CI
// without one, to the run. If the cache cannot be read or written, only time is lost.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "runtime/compile/nvrtc.hpp"

namespace holdfast {

// Null if in neither. `key` is a SHA-256 over everything the artifact depends on.
std::shared_ptr<const Artifact> cached_program(const std::string& key);
void cache_program(const std::string& key, std::shared_ptr<const Artifact> artifact);

// The same for a text that the key determines, on disk alone; empty if absent.
std::optional<std::string> cached_text(const std::string& key);
void cache_text(const std::string& key, const std::string& content);

// Clears the cache in memory, as in a new process.
void forget_cached_programs();

// While it lives, this thread's programs are cached in that folder on disk and nowhere else.
class ProgramsKeptIn {
 public:
  explicit ProgramsKeptIn(std::filesystem::path folder);
  ~ProgramsKeptIn();
  ProgramsKeptIn(const ProgramsKeptIn&) = delete;
  ProgramsKeptIn& operator=(const ProgramsKeptIn&) = delete;

 private:
  std::filesystem::path before_;
};

}  // namespace holdfast
