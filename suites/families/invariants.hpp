// SPDX-License-Identifier: Apache-2.0
// What holds between the results before and after the timed section, whatever is computed.
#pragma once

#include "harness/case/case.hpp"

namespace holdfast {

// The result of unchanged inputs is the same every time, to the bit.
Invariant repeats_itself();

// The same to so much of its largest entry.
Invariant repeats_itself_within(double allowed);

// The larger one; infinite where the difference is no number, which std::max would drop.
double larger(double most, double difference);

}  // namespace holdfast
