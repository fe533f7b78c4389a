// SPDX-License-Identifier: Apache-2.0
// Template arguments of the encoding kernels, and block shapes of encoding and of the local
// likelihood, shared by host and device.
#pragma once

// Not used here: a cubin keeps constants in the order of their declaration, and these must come
// after.
#include "clusterless_kde/problem/formulas.hpp"

namespace holdfast::clusterless_kde {

// Warps per block of local_spikes and local_rows: a warp per spike, per row.
inline constexpr int local_warps = 4;

// Where sums are evaluated: at places; at nodes; at nodes, keeping the spikes' values as Psi.
enum Columns { at_places, at_nodes, at_stored_nodes };

// Block shape of column_sums: columns by quads of a group of items. Block shape of group_sums and
// finish: columns by tiles of items summed at a time.
inline constexpr int summed_columns = 64, group_quads = 4, finish_columns = 32, finish_lanes = 8;

}  // namespace holdfast::clusterless_kde
