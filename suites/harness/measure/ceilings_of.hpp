// SPDX-License-Identifier: Apache-2.0
// The ceilings that results and profiles of this process are held against.
#pragma once

#include <optional>

#include "harness/ceilings/ceilings.hpp"
#include "runtime/backend/backend.hpp"

namespace holdfast {

// Measured now, in a turn of this process. A calibration that fails costs its ceilings, and a line
// in the log; HOLDFAST_CEILINGS=none leaves them out, for processes that follow one which a
// calibration has ended, or enough that have them.
std::optional<Ceilings> ceilings_of(Backend& backend);

}  // namespace holdfast
