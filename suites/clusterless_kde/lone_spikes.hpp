// SPDX-License-Identifier: Apache-2.0
// How exact a decode is for each spike by itself: sums over hundreds of spikes carry a millionth of
// themselves in any variant, and would hide an error of one.
#pragma once

#include "clusterless_kde/row.hpp"

namespace holdfast::clusterless_kde {

// The largest error of a spike's likelihood, in nats: of spikes of the row's input, each in a row
// of its own. What a budget or a consumer makes of the likelihoods is another question.
double spike_error(const Row& row, Backend& backend, Variant variant);

// How large it may be.
double spike_limit(const Row& row);

// Share of these likelihoods that lie at the floor.
double floored_fraction(const Row& row);

}  // namespace holdfast::clusterless_kde
