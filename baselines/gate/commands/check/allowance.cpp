// SPDX-License-Identifier: Apache-2.0
#include "gate/commands/check/allowance.hpp"

namespace holdfast::gate {

std::vector<std::size_t> shares(std::size_t most, const std::vector<std::size_t>& wanted) {
  std::vector<std::size_t> given(wanted.size(), 0);
  for (bool more = true; more && most > 0;) {
    more = false;
    for (std::size_t i = 0; i < wanted.size() && most > 0; ++i) {
      if (given[i] == wanted[i]) continue;
      ++given[i];
      --most;
      more = true;
    }
  }
  return given;
}

}  // namespace holdfast::gate
