// SPDX-License-Identifier: Apache-2.0
// The oracles of this suite, and the invariants that must hold after the timed section.
#pragma once

#include <vector>

#include "clusterless_kde/row.hpp"

namespace holdfast::clusterless_kde {

// Errors are fractions of the allowed error, so that the limit is 1. A stepped case adds, as its
// golden error, that of the worst single spike, which its name promises.
Oracle oracle(const Row& row);

// How a result compares with the known values, as printed by the published profile.
std::vector<NamedReading> comparison(const Row& row, const std::vector<double>& result);

// The same for the optimized variant's result and the complete one of the reference. Likelihoods
// may differ by as much as each from the truth; a model, whose tolerance is a tenth of that, by
// twice as much.
std::vector<NamedReading> agreement(const Row& row, const std::vector<double>& optimized,
                                    const std::vector<double>& reference);

}  // namespace holdfast::clusterless_kde
