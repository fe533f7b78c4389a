// SPDX-License-Identifier: Apache-2.0
// Kernel arguments of a decode and of the local likelihood, and block shapes of a decode, shared by
// host and device. Includes nothing from the standard, because device code has no such headers.
#pragma once

#include "clusterless_kde/device/values.hpp"
#include "runtime/device_code/both.hpp"

namespace holdfast::clusterless_kde {

// Consecutive decoding spikes of one electrode, and its groups of 16 encoding spikes.
struct SpikeTile {
  int spike, spikes;
  int group, groups;
};

// Warps per block of hop_a, at most; warps per block of hop_b, sum_rows and consume; columns per
// block of sum_rows.
inline constexpr int most_mark_warps = 8, place_warps = 4, sum_rows_columns = 64;

// Quads from column to column of a right-hand factor in shared memory; four of them hold data.
// Without matrix units a lane reads eight columns at once, which padding puts into different banks.
template <class V>
inline constexpr int column_quads = 4;
template <>
inline constexpr int column_quads<float> = 5;

// Without matrix units a warp exchanges its left-hand factor, `tiles` times 16 rows, through shared
// memory: quads of float for each of 16 columns, and in total.
HOLDFAST_BOTH constexpr int exchange_pitch(int tiles) {
  return 4 * tiles + 1;
}
template <class V>
HOLDFAST_BOTH constexpr int exchange_quads(int) {
  return 0;
}
template <>
HOLDFAST_BOTH constexpr int exchange_quads<float>(int tiles) {
  return group_items * exchange_pitch(tiles);
}
// Stride, in values from spike to spike, of the sums that hop_b exchanges through shared memory.
HOLDFAST_BOTH constexpr int place_pitch(int bins) {
  return bins + 8;
}

// Source of hop_a's right-hand factor.
enum ValueSource {
  stored_nodes,  // Psi, kept by the model
  formed_nodes,  // the same, computed tile by tile
  formed_places  // kernels at the places themselves: the dense path
};

// hop_a: of every decoding spike with every column (node or place), the sum over its electrode's
// encoding spikes. Coordinates in Gaussian units.
template <class T, class V>
struct MarkProduct {
  const SpikeTile* tiles;    // [grid.x]
  const T* spikes;           // [M, D]: features, by electrode
  const int* order;          // [M]: position of each in the order of time
  const Quad<T>* features;   // [groups, D, 4]
  const Quad<V>* values;     // [groups, width, 4] of stored_nodes
  const Quad<T>* positions;  // [groups, d, 4], where values are computed
  const T* places;           // [width, d] of formed_places
  T spacing;                 // for formed_nodes
  const T* boxes;            // [groups, lowest and highest, d]: with a cut
  T cut;                     // squared distance beyond which a single encoding spike is negligible
  T* sums;                   // [spikes of the chunk, stride], in the order of time
  int first;                 // first spike of the chunk, in the order of time
  int width, stride;         // columns, and the row stride of `sums`; even
  int run;                   // columns of a block, a multiple of 16
  int stage_groups;          // groups of encoding spikes per stage in shared memory
  int parts;                 // warps that share the encoding spikes of a tile, a power of two
};

// hop_b and sum_rows: log-likelihoods summed per row of a time chunk. Spikes and rows are numbered
// from the start of the decode.
template <class T, class V>
struct PlaceProduct {
  const T* sums;       // [spikes of the chunk, stride]: hop_a's
  const int* rows;     // [M] in the order of time
  const Quad<V>* phi;  // [width / 16, bins, 4] of two hops
  const T* beta;       // [bins]
  const T* ground;     // [bins]
  T* out;              // [rows of the chunk, bins]
  int first, end;      // spikes of the chunk
  int first_row, end_row;
  int rows_per_warp;
  int stride, bins;
  int node_groups;  // Q / 16
  int slab_groups;  // node groups in shared memory at a time
};

// Encoding as the local likelihood needs it. Coordinates in Gaussian units.
template <class T>
struct LocalModel {
  const Quad<T>* features;   // [groups, D, 4]
  const Quad<T>* positions;  // [groups, d, 4]
  const Quad<T>* samples;    // [sample_groups, d, 4]
  const double* sums;        // [2, nodes]: psi of all encoding spikes, and of all samples
  int groups, sample_groups;
  int nodes;  // 0: densities are summed directly
  T spacing, weight;
  double log_mark_norm;
};

// Decoding spikes in the order of time, and the animal's positions.
template <class T>
struct LocalDecoding {
  const T* features;       // [M, D]
  const T* at_spikes;      // [M, d]
  const int* electrode;    // [M]
  const int* group_begin;  // [E + 1]: an electrode's encoding spikes
  const T* at_edges;       // [T, d]
  const int* row_begin;    // [T + 1]: first spike of each row
  int spikes, rows;
};

}  // namespace holdfast::clusterless_kde
