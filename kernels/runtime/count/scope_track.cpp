// SPDX-License-Identifier: Apache-2.0
#include "runtime/count/scope_track.hpp"

#include <string>
#include <utility>

namespace holdfast {

std::size_t ScopeTrack::open(std::string_view name, double now) {
  const std::size_t scope = scopes.size();
  const int depth = innermost_ < 0 ? 0 : scopes[static_cast<std::size_t>(innermost_)].depth + 1;
  scopes.push_back({.name = std::string(name),
                    .parent = std::exchange(innermost_, static_cast<int>(scope)),
                    .depth = depth,
                    .begin = now,
                    .end = still_open});
  return scope;
}

void ScopeTrack::close(std::size_t scope, double now) {
  if (scopes[scope].end != still_open) return;
  while (innermost_ >= 0 && static_cast<std::size_t>(innermost_) >= scope) {
    ScopeRecord& inner = scopes[static_cast<std::size_t>(innermost_)];
    inner.end = now;
    innermost_ = inner.parent;
  }
}

void ScopeTrack::close_all(double now) {
  while (innermost_ >= 0) close(static_cast<std::size_t>(innermost_), now);
}

}  // namespace holdfast
