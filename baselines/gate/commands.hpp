// SPDX-License-Identifier: Apache-2.0
// The table of verbs. A new verb is a function and a row.
#pragma once

#include <vector>

#include "gate/options.hpp"

namespace holdfast::gate {

const std::vector<Command>& commands();

}  // namespace holdfast::gate
