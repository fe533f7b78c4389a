// SPDX-License-Identifier: Apache-2.0
// The ceilings that results and profiles of this process are held against.
#pragma once

#include <cstdint>
#include <optional>

#include "harness/ceilings/ceilings.hpp"
#include "runtime/backend/backend.hpp"

namespace holdfast {

// Measured now, in a turn of this process. A calibration that fails costs its ceilings, and a line
// in the log; HOLDFAST_CEILINGS=none leaves them out, for processes that follow one which a
// calibration has ended, or enough that have them.
std::optional<Ceilings> ceilings_of(Backend& backend);

// The least time of a step of a variant that held so much at once. That and what a step must move
// both bound the memory that it touches: a floor that is too high makes an honest time look
// impossible.
double floor_seconds(const Ceilings& ceilings, const Work& work, std::int64_t peak_bytes);

}  // namespace holdfast
