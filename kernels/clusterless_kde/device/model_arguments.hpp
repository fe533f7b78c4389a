// SPDX-License-Identifier: Apache-2.0
// How the kernels of encoding are named, and how their blocks and those of the local likelihood are
// made, spelled alike on host and device.
#pragma once

// Uses none of it: a cubin keeps constants in the order of their declaration, and these come after.
#include "clusterless_kde/problem/formulas.hpp"

namespace holdfast::clusterless_kde {

// Of a block of local_spikes and of local_rows: a warp for each spike, for each row.
inline constexpr int local_warps = 4;

// What sums are at: places; nodes; nodes, where the spikes' values are kept as Psi.
enum Columns { at_places, at_nodes, at_stored_nodes };

// Columns of a block of column_sums, by the quads of a group of items; of one of group_sums and
// finish, by tiles of items that are added up at a time.
inline constexpr int summed_columns = 64, group_quads = 4, finish_columns = 32, finish_lanes = 8;

}  // namespace holdfast::clusterless_kde
