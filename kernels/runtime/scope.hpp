// SPDX-License-Identifier: Apache-2.0
// Named phases of a computation: `const Scope scope("project");`. Free unless somebody listens.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast {

// A finished scope; `depth` 0 is outermost. Seconds on the steady clock, since the recording began.
struct ScopeRecord {
  std::string name = {};
  int depth = 0;
  double begin = 0, end = 0;
};

// While one lives, scopes of this thread are recorded, innermost first finished. At most one per
// thread.
class ScopeRecording {
 public:
  ScopeRecording();
  ~ScopeRecording();
  ScopeRecording(const ScopeRecording&) = delete;
  ScopeRecording& operator=(const ScopeRecording&) = delete;

  const std::vector<ScopeRecord>& records() const { return records_; }

 private:
  friend class Scope;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  int depth_ = 0;
  std::vector<ScopeRecord> records_ = {};
};

class Scope {
 public:
  explicit Scope(std::string_view name);
  ~Scope();
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  ScopeRecording* recording_;  // null when nobody listens
  std::string_view name_;
  std::chrono::steady_clock::time_point begin_ = {};
};

}  // namespace holdfast
