// SPDX-License-Identifier: Apache-2.0
// Accuracy of a decode per spike: sums over hundreds of spikes carry a relative error of a
// millionth in any variant, which would hide a wrong spike.
#pragma once

#include "clusterless_kde/row.hpp"

namespace holdfast::clusterless_kde {

// The largest error of a spike's likelihood, in nats, with each spike of the row's input in its own
// row. Independent of budgets and consumers.
double spike_error(const Row& row, Backend& backend, Variant variant);

// The largest allowed spike_error().
double spike_limit(const Row& row);

// The fraction of these likelihoods that are at the floor.
double floored_fraction(const Row& row);

}  // namespace holdfast::clusterless_kde
