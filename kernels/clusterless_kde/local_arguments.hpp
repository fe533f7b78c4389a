// SPDX-License-Identifier: Apache-2.0
// What the kernels of the local likelihood are given, spelled alike on host and device.
#pragma once

#include "values.hpp"

namespace holdfast::clusterless_kde {

// Of a block of local_spikes and of local_rows: a warp for each spike, for each row.
inline constexpr int local_warps = 4;

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

// Decoding spikes in the order of time, and where the animal was.
template <class T>
struct LocalDecoding {
  const T* features;       // [M, D]
  const T* at_spikes;      // [M, d]
  const int* electrode;    // [M]
  const int* group_begin;  // [E + 1]: an electrode's encoding spikes
  const T* at_edges;       // [T, d]
  const int* row_begin;    // [T + 1]: of each row's spikes
  int spikes, rows;
};

}  // namespace holdfast::clusterless_kde
