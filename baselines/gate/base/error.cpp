// SPDX-License-Identifier: Apache-2.0
#include "gate/base/error.hpp"

#include <algorithm>
#include <array>

namespace holdfast::gate {

int exit_code(Fault fault) {
  switch (fault) {
    case Fault::regression:
      return Exit::failed;
    case Fault::bad_input:
      return Exit::bad_input;
    case Fault::incomplete:
      return Exit::incomplete;
    case Fault::undecided:
      return Exit::undecided;
    case Fault::no_device:
      return Exit::no_device;
  }
  return Exit::bad_input;
}

int worse_exit_code(int a, int b) {
  constexpr std::array<int, 6> order = {2, 3, 1, 4, 77, 0};
  const auto rank = [&](int code) { return std::find(order.begin(), order.end(), code); };
  // A code outside the table is a broken tool, which is worse than any judgement.
  if (rank(a) == order.end() || rank(b) == order.end()) return 2;
  return *std::min(rank(a), rank(b));
}

}  // namespace holdfast::gate
