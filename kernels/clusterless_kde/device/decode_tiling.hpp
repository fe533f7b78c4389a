// SPDX-License-Identifier: Apache-2.0
// Private to the optimized variant on a device: how a decode is divided among blocks and warps, and
// the memory that takes. Depends on shape and plan alone, so that every device has the same grids.
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
  // hop_a: columns (at most 128) and 16-row tiles whose sums a warp keeps in registers, and columns
  // per block.
  int columns = 0, row_tiles = 0, run = 0;
  // Warps per block with different decoding spikes; warps that share the encoding spikes of each, a
  // power of two; groups of 16 encoding spikes per stage.
  int warps = 0, parts = 1, stage_groups = 0;
  std::size_t mark_bytes = 0;  // shared memory
  // hop_b: places per block, 16-row tiles per warp, groups of 16 nodes in shared memory.
  int bins = 0, place_tiles = 0, slab_groups = 0;
  std::size_t place_bytes = 0;  // shared memory
  int rows_per_warp = 0;        // rows of time, in hop_b and sum_rows

  int tile_spikes() const { return 16 * row_tiles * warps; }
  int mark_warps() const { return warps * parts; }  // per block of hop_a
};

// T, V as in CudaModel.
template <class T, class V>
DecodeTiling decode_tiling(const Shape& shape, const Plan& plan);

// Upper bound over all time chunks together.
std::int64_t most_spike_tiles(const Shape& shape, int chunks, int tile_spikes);

}  // namespace holdfast::clusterless_kde
