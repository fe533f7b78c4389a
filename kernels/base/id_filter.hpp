// SPDX-License-Identifier: Apache-2.0
// The semantics of --filter, the same in every program.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace re2 {
class RE2;
}

namespace holdfast {

// A regular expression that must match somewhere in an id, or after a leading '-' nowhere; empty
// matches all. RE2's syntax (https://github.com/google/re2/wiki/Syntax), without back references
// or look-ahead: any pattern takes time linear in pattern and id.
class IdFilter {
 public:
  explicit IdFilter(std::string_view filter);
  // Why the filter is invalid, "missing ): (a"; empty for a valid one.
  const std::string& problem() const { return problem_; }
  bool takes(std::string_view id) const;

 private:
  std::shared_ptr<const re2::RE2> pattern_ = {};
  bool excludes_;
  std::string problem_ = {};
};

}  // namespace holdfast
