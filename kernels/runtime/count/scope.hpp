// SPDX-License-Identifier: Apache-2.0
// Named phases of a computation: `const Scope scope("project");`. A Recording on this thread, or on
// the one it works for (worker.hpp), records them; an NVTX profiler sees them; otherwise they cost
// a few instructions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/count/worker.hpp"

namespace holdfast {

class Recorder;

// A scope as a Recording keeps it. Seconds on the steady clock, since the recording began.
struct ScopeRecord {
  std::string name = {};
  int parent = -1;  // index of the scope around it; -1 outermost
  int depth = 0;    // 0 is outermost
  double begin = 0, end = 0;
  // Opened during a graph's capture, and repeated by a replay: its length on the host is zero.
  bool replayed = false;
};

// Open while it lives; scopes of a thread are closed in reverse order. `name` must outlive it.
class Scope {
 public:
  explicit Scope(std::string_view name);
  ~Scope();
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  friend std::vector<std::string> open_scopes(std::size_t without);
  std::string_view name_;
  const Scope* around_;
  Worker::Place place_ = {};  // in the current recording
};

// Names of this thread's open scopes, outermost first: "rk4_step/rhs"; empty outside of any.
std::string scope_path();
// The same as a list, without the outermost `without`.
std::vector<std::string> open_scopes(std::size_t without = 0);

// The recorder receives the scopes that this thread opens from here on. Throws Error{broken_rule}
// if the thread has one.
void listen_to_scopes(Recorder& recorder);
void ignore_scopes() noexcept;

}  // namespace holdfast
