// SPDX-License-Identifier: Apache-2.0
// The scopes of one thread, as they open and close.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "runtime/count/scope.hpp"

namespace holdfast {

class ScopeTrack {
 public:
  static constexpr double still_open = -1;  // value of an end

  std::size_t open(std::string_view name, double now);
  // Also ends the scopes within, so that records always nest.
  void close(std::size_t scope, double now);
  void close_all(double now);
  int innermost() const { return innermost_; }  // the innermost open scope; -1 if none

  std::vector<ScopeRecord> scopes = {};  // in the order of opening

 private:
  int innermost_ = -1;
};

// The track of a worker thread (worker.hpp), under its name.
struct WorkerTrack : ScopeTrack {
  WorkerTrack(std::thread::id of, std::string_view named) : thread(of), name(named) {}

  std::thread::id thread;
  std::string name;
  std::size_t dropped = 0;  // scopes beyond the limit
};

}  // namespace holdfast
