// SPDX-License-Identifier: Apache-2.0
// The ceilings that bound the results and profiles of this process.
#pragma once

#include <cstdint>
#include <optional>

#include "harness/ceilings/ceilings.hpp"
#include "runtime/backend/backend.hpp"

namespace holdfast {

// Measured now, in a turn of this process. If a calibration fails, its ceilings are missing and the
// log gets a line; HOLDFAST_CEILINGS=none omits them all, for processes that follow one whose
// calibration crashed, or enough that have them.
std::optional<Ceilings> ceilings_of(Backend& backend);

// The minimal time of a step of a variant with this peak. The peak and the step's minimal traffic
// both bound the memory that it touches: too high a floor would make an honest time look
// impossible.
double floor_seconds(const Ceilings& ceilings, const Work& work, std::int64_t peak_bytes);
// The same of its kernels alone, whose times need not include the latency between phases.
double kernels_floor_seconds(const Ceilings& ceilings, Work work, std::int64_t peak_bytes);

}  // namespace holdfast
