// SPDX-License-Identifier: Apache-2.0
// Invariants between the results before and after the timed section, whatever is computed.
#pragma once

#include "harness/case/case.hpp"

namespace holdfast {

// Unchanged inputs give the same result every time, to the bit.
Invariant repeats_itself();

// The same, within `allowed` relative to the largest entry.
Invariant repeats_itself_within(double allowed);

// The larger of `most` and |difference|; infinite if that is NaN, which std::max would drop.
double larger(double most, double difference);

}  // namespace holdfast
