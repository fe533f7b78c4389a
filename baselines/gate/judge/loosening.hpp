// SPDX-License-Identifier: Apache-2.0
// What the policy says of a metric before a change and with it: each difference, and whether it
// lets more pass.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gate/documents/policy.hpp"

namespace holdfast::gate {

struct StandardChange {
  std::string what;  // "gate", "tolerance", "bound" ...
  std::string before;
  std::string after;
  bool loosens = false;
  Said said = {};        // by the change
  bool excused = false;  // it gives a reason that was not there before
};

std::vector<StandardChange> compare(const Standard& before, const Standard& after);

// The reasons of all loosenings; empty where there is none, or one gives no reason of its own.
std::optional<std::string> excuse(const Standard& before, const Standard& after);

}  // namespace holdfast::gate
