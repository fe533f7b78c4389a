// SPDX-License-Identifier: Apache-2.0
// Who knows the right results of this suite, and what must hold after the timed section.
#pragma once

#include <vector>

#include "clusterless_kde/row.hpp"

namespace holdfast::clusterless_kde {

// An error is told as a fraction of what is allowed, so that 1 is the limit. That of the worst
// spike by itself, which its name promises, a stepped case adds as its golden error.
Oracle oracle(const Row& row);

// How a result compares with what is known of it, as the published profile prints it.
std::vector<NamedReading> comparison(const Row& row, const std::vector<double>& result);

// The same for the optimized variant's result and all of the reference's. Likelihoods may differ as
// much as each from the truth; a model, of which only a tenth of that is let pass, twice as much.
std::vector<NamedReading> agreement(const Row& row, const std::vector<double>& optimized,
                                    const std::vector<double>& reference);

}  // namespace holdfast::clusterless_kde
