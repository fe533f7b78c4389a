// SPDX-License-Identifier: Apache-2.0
// Private to the optimized variant on a device: how a decode is divided among blocks and warps, and
// what memory that takes. From shape and plan alone, so that every device has the same grids.
#pragma once

#include <cstddef>
#include <cstdint>

#include "clusterless_kde/device/arguments.hpp"
#include "clusterless_kde/problem/options.hpp"
#include "clusterless_kde/problem/preparation.hpp"

namespace holdfast::clusterless_kde {

struct DecodeTiling {
  ValueSource source = formed_places;
  int width = 0;   // of hop_a's result: nodes or places
  int stride = 0;  // of the scratch, from spike to spike
  // hop_a: columns, at most 128, and 16-row tiles of which a warp has sums in registers, and the
  // columns of them that a block takes.
  int columns = 0, row_tiles = 0, run = 0;
  // Warps of a block with decoding spikes of their own; how many share the encoding spikes of each,
  // a power of two; groups of 16 encoding spikes per stage.
  int warps = 0, parts = 1, stage_groups = 0;
  std::size_t mark_bytes = 0;  // of shared memory
  // hop_b: places per block, 16-row tiles per warp, groups of 16 nodes in shared memory.
  int bins = 0, place_tiles = 0, slab_groups = 0;
  std::size_t place_bytes = 0;  // of shared memory
  int rows_per_warp = 0;        // of time, for hop_b and sum_rows

  int tile_spikes() const { return 16 * row_tiles * warps; }
  int mark_warps() const { return warps * parts; }  // of a block of hop_a
};

// T, V as in CudaModel.
template <class T, class V>
DecodeTiling decode_tiling(const Shape& shape, const Plan& plan);

// Of all time chunks together, at most.
std::int64_t most_spike_tiles(const Shape& shape, int chunks, int tile_spikes);

}  // namespace holdfast::clusterless_kde
