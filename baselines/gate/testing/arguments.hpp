// SPDX-License-Identifier: Apache-2.0
// For tests: one command line of several parts.
#pragma once

#include <string>
#include <vector>

namespace holdfast::gate::toy {

template <class... Parts>
std::vector<std::string> joined(std::vector<std::string> first, const Parts&... parts) {
  (first.insert(first.end(), parts.begin(), parts.end()), ...);
  return first;
}

}  // namespace holdfast::gate::toy
