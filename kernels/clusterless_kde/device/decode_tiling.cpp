// SPDX-License-Identifier: Apache-2.0
#include "clusterless_kde/device/decode_tiling.hpp"

#include <algorithm>
#include <type_traits>

namespace holdfast::clusterless_kde {
namespace {

constexpr int group = group_items;
constexpr int most_columns = 128, most_cut_columns = 64, default_warps = 4;
// Blocks that keep a device busy, and bytes of shared memory that a block of any architecture can
// have (99 KiB), with the exchange buffers: constants, so that grids are the same on all of them.
constexpr std::int64_t enough_blocks = 264;
constexpr std::int64_t enough_warps = 1056;
constexpr std::size_t stage_bytes = 96 << 10, slab_bytes = 60 << 10;

constexpr std::int64_t parts(std::int64_t count, std::int64_t each) {
  return (count + each - 1) / each;
}
constexpr int rounded_up(std::int64_t value, int unit) {
  return static_cast<int>(parts(value, unit) * unit);
}

// Sums of f64 take two registers each; without matrix units a lane holds both factors as well.
template <class V>
constexpr bool few_rows = std::is_same_v<V, double> || std::is_same_v<V, float>;

// Of one group of 16 in a column.
template <class V>
constexpr std::size_t column_bytes = column_quads<V> * sizeof(Quad<V>);
// Per warp, what it passes round in shared memory.
template <class V>
constexpr std::size_t exchange_bytes(int tiles) {
  return static_cast<std::size_t>(exchange_quads<V>(tiles)) * sizeof(Quad<float>);
}

// Nodes split evenly over as few passes as registers allow. Runs of places of a cut are shorter:
// fewer encoding spikes are near all of one.
int columns_per_block(const DecodeTiling& tiling, const Options& options) {
  if (tiling.source == formed_places) {
    const int most = options.cut ? most_cut_columns : most_columns;
    return options.position_tile == 0 ? most
                                      : std::min(rounded_up(options.position_tile, group), most);
  }
  const auto passes = parts(tiling.width, most_columns);
  return rounded_up(parts(tiling.width, passes), group);
}

// As many spikes per block as leave enough blocks; `block` is rounded up to whole warps.
int warps_per_block(const DecodeTiling& tiling, const Shape& shape, const Options& options) {
  const int each = group * tiling.row_tiles;
  if (options.block > 0)
    return static_cast<int>(std::min<std::int64_t>(parts(options.block, each), most_mark_warps));
  for (int warps = default_warps; warps > 1; warps /= 2) {
    const auto tiles = most_spike_tiles(shape, options.chunks, each * warps);
    if (tiles * parts(tiling.width, tiling.columns) >= enough_blocks) return warps;
  }
  return 1;
}

}  // namespace

std::int64_t most_spike_tiles(const Shape& shape, int chunks, int tile_spikes) {
  std::int64_t tiles = 0;
  for (const auto spikes : shape.decoding)
    if (spikes > 0) tiles += std::min(spikes, parts(spikes, tile_spikes) + chunks - 1);
  return tiles;
}

template <class T, class V>
DecodeTiling decode_tiling(const Shape& shape, const Plan& plan) {
  const Options& options = plan.options;
  const bool two_hop = plan.path == Path::two_hop;
  DecodeTiling tiling;
  tiling.source = !two_hop                           ? formed_places
                  : options.values == Values::stored ? stored_nodes
                                                     : formed_nodes;
  tiling.width = two_hop ? plan.node_count : static_cast<int>(shape.bins);
  tiling.stride = rounded_up(tiling.width, 8);
  tiling.columns = columns_per_block(tiling, options);
  tiling.row_tiles = few_rows<V> || shape.features > 4 ? 1 : 2;
  tiling.warps = warps_per_block(tiling, shape, options);

  const std::size_t per_group = static_cast<std::size_t>(shape.features) * 4 * sizeof(Quad<T>) +
                                static_cast<std::size_t>(tiling.columns) * column_bytes<V>;
  const auto exchange =
      static_cast<std::size_t>(tiling.warps) * exchange_bytes<V>(tiling.row_tiles);
  const int wanted =
      options.encoding_tile == 0 ? 2 : static_cast<int>(parts(options.encoding_tile, group));
  const int room = static_cast<int>((stage_bytes - exchange) / (2 * per_group));
  tiling.stage_groups = std::max(1, std::min(wanted, room));
  tiling.mark_bytes = 2 * static_cast<std::size_t>(tiling.stage_groups) * per_group + exchange;

  tiling.bins = options.position_tile == 0                                 ? 64
                : options.position_tile <= 32                              ? 32
                : options.position_tile <= 64 || std::is_same_v<T, double> ? 64
                                                                           : 128;
  tiling.place_tiles = few_rows<V> || tiling.bins == 128 ? 1 : 2;
  const std::size_t slab_group = static_cast<std::size_t>(tiling.bins) * column_bytes<V>;
  tiling.slab_groups = std::min(tiling.width / group, static_cast<int>(slab_bytes / slab_group));
  tiling.place_bytes = static_cast<std::size_t>(tiling.slab_groups) * slab_group +
                       static_cast<std::size_t>(place_warps * group * tiling.place_tiles *
                                                place_pitch(tiling.bins)) *
                           sizeof(T);

  // About 128 spikes per warp, fewer where that leaves multiprocessors idle.
  const std::int64_t rows = shape.rows, spikes = std::max<std::int64_t>(shape.decoding_total(), 1);
  const auto runs = parts(shape.bins, two_hop ? tiling.bins : 64);
  const auto for_work = 128 * rows / spikes, for_warps = rows * runs / enough_warps;
  tiling.rows_per_warp =
      static_cast<int>(std::clamp<std::int64_t>(std::min(for_work, for_warps), 1, 1 << 20));
  return tiling;
}

template DecodeTiling decode_tiling<float, SplitBf16>(const Shape&, const Plan&);
template DecodeTiling decode_tiling<float, Tf32>(const Shape&, const Plan&);
template DecodeTiling decode_tiling<float, float>(const Shape&, const Plan&);
template DecodeTiling decode_tiling<double, double>(const Shape&, const Plan&);

}  // namespace holdfast::clusterless_kde
