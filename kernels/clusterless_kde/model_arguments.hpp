// SPDX-License-Identifier: Apache-2.0
// How the kernels of encoding are named and how their blocks are made, spelled alike on host and
// device.
#pragma once

namespace holdfast::clusterless_kde {

// What sums are at: places; nodes; nodes, where the spikes' values are kept as Psi.
enum Columns { at_places, at_nodes, at_stored_nodes };

// Columns of a block of column_sums, by the quads of a group of items; of one of group_sums and
// finish, by tiles of items that are added up at a time.
inline constexpr int summed_columns = 64, group_quads = 4, finish_columns = 32, finish_lanes = 8;

}  // namespace holdfast::clusterless_kde
