// SPDX-License-Identifier: Apache-2.0
// What a check proposes as the next baseline: proposed-baseline.patch.
#pragma once

#include <functional>
#include <string>

#include "gate/commands/check/check.hpp"
#include "gate/commands/check/check_state.hpp"
#include "gate/judge/part.hpp"

namespace holdfast::gate {

// Whether `baseline accept` would take the part, given a reason; decided on the first call. The
// arguments must outlive it.
std::function<bool()> acceptance(const CheckRequest& request, const CheckState& state,
                                 const Part& part);

// If the part fails, all that accepting it would change; else its lasting improvements, which the
// rows and notes of `found` mention. Empty if the measurement cannot be accepted.
std::string proposed_patch(const CheckRequest& request, const CheckState& state, const Part& part,
                           PartVerdict& found);

}  // namespace holdfast::gate
