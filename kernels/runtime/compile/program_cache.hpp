// SPDX-License-Identifier: Apache-2.0
// Compiled programs that need not be compiled again: in this process's memory, and on disk under
// HOLDFAST_CACHE_DIR (default $XDG_CACHE_HOME/holdfast or ~/.cache/holdfast), made 0700 and refused
// where others can write. An entry is bound to its key, and to HOLDFAST_CACHE_SECRET or, in CI
// without one, to the run. A cache that cannot be read or written costs time only.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "runtime/compile/nvrtc.hpp"

namespace holdfast {

// Null when neither has it. `key` is a SHA-256 over everything the artifact depends on.
std::shared_ptr<const Artifact> cached_program(const std::string& key);
void cache_program(const std::string& key, std::shared_ptr<const Artifact> artifact);

// The same of a text that follows from something else, on disk alone; nothing where there is none.
std::optional<std::string> cached_text(const std::string& key);
void cache_text(const std::string& key, const std::string& content);

// Forgets what is held in memory, as a new process would.
void forget_cached_programs();

// While it lives, this thread's programs are kept on disk in that folder and nowhere else.
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
