// SPDX-License-Identifier: Apache-2.0
// The oracles of the suite's cases.
#pragma once

#include "xpcs_fit/row.hpp"

namespace holdfast::xpcs_fit {

// The plain formulation point by point, and published values.
Oracle oracle_of(Unit unit, const Row& row);

}  // namespace holdfast::xpcs_fit
