// SPDX-License-Identifier: Apache-2.0
// What --filter chooses, alike in every program.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace re2 {
class RE2;
}

namespace holdfast {

// A regular expression that is found anywhere in an id, or after a '-' one that is not; empty takes
// all. RE2's syntax (https://github.com/google/re2/wiki/Syntax), which has neither back references
// nor look-ahead: the time is linear in pattern and id, whoever wrote them.
class IdFilter {
 public:
  explicit IdFilter(std::string_view filter);
  // Why it takes nothing: "missing ): (a"; empty where it is a filter.
  const std::string& problem() const { return problem_; }
  bool takes(std::string_view id) const;

 private:
  std::shared_ptr<const re2::RE2> pattern_ = {};
  bool excludes_;
  std::string problem_ = {};
};

}  // namespace holdfast
