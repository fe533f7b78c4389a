// SPDX-License-Identifier: Apache-2.0
// Who knows the right results of this suite, and what must hold after the timed section.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "clusterless_kde/row.hpp"

namespace holdfast::clusterless_kde {

// What verifying a case found, for its readings.
struct Found {
  std::array<std::optional<double>, 2> spike_error = {};  // in nats, by variant
  std::vector<double> reference = {};  // its result, until the optimized variant's was held to it
};

// An error is told as a fraction of what is allowed, so that 1 is the limit: that of each known
// entry of a result, and that of the worst spike by itself.
Oracle oracle(const Row& row, const std::shared_ptr<Found>& found);

// The result of unchanged inputs is the same every time, to the bit.
Invariant repeats_itself();

// How a result compares with what is known of it, as the published profile prints it.
std::vector<NamedReading> comparison(const Row& row, const std::vector<double>& result);

// The same for the optimized variant's result and all of the reference's. Likelihoods may differ as
// much as each from the truth; a model, of which only a tenth of that is let pass, twice as much.
std::vector<NamedReading> agreement(const Row& row, const std::vector<double>& optimized,
                                    const std::vector<double>& reference);

// Whether the row's results are likelihoods of single spikes, added up.
bool is_decoding(const Row& row);

}  // namespace holdfast::clusterless_kde
