// SPDX-License-Identifier: Apache-2.0
#include "clusterless_kde/device/decode_tiling.hpp"

#include <algorithm>
#include <type_traits>

namespace holdfast::clusterless_kde {
namespace {

constexpr int group = group_items;
constexpr int most_columns = 128, most_cut_columns = 64, cut_groups = 2, default_warps = 4;
// Blocks that keep a device busy, and shared memory that a block of any architecture can have (99
// KiB), including the exchange buffers: constants, so that grids are the same on all of them.
constexpr std::int64_t enough_blocks = 264;
// Warps resident at the same time: per multiprocessor, registers allow ten to twelve of hop_a with
// 64 columns, and three blocks of hop_b.
constexpr std::int64_t multiprocessors = 132, mark_warps_at_work = 10 * multiprocessors,
                       place_warps_at_work = 3 * place_warps * multiprocessors;
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

// Bytes of one group of 16 in a column.
template <class V>
constexpr std::size_t column_bytes = column_quads<V> * sizeof(Quad<V>);
// Shared memory per warp for exchange.
template <class V>
constexpr std::size_t exchange_bytes(int tiles) {
  return static_cast<std::size_t>(exchange_quads<V>(tiles)) * sizeof(Quad<float>);
}

// Splits nodes evenly over as few passes as registers allow. With a cut, runs of places are
// shorter: fewer encoding spikes are near all places of a run.
int columns_per_block(const DecodeTiling& tiling, const Options& options) {
  if (tiling.source == formed_places) {
    const int most = options.cut ? most_cut_columns : most_columns;
    return options.position_tile == 0 ? most
                                      : std::min(rounded_up(options.position_tile, group), most);
  }
  const auto passes = parts(tiling.width, most_columns);
  return rounded_up(parts(tiling.width, passes), group);
}

template <class T, class V>
std::size_t group_bytes(const Shape& shape, int columns) {
  return static_cast<std::size_t>(shape.features) * 4 * sizeof(Quad<T>) +
         static_cast<std::size_t>(columns) * column_bytes<V>;
}
// Groups of encoding spikes that fit into each of two stages.
template <class T, class V>
int stage_room(const DecodeTiling& tiling, const Shape& shape, int columns, int warps) {
  const auto exchange = static_cast<std::size_t>(warps) * exchange_bytes<V>(tiling.row_tiles);
  return static_cast<int>((stage_bytes - exchange) / (2 * group_bytes<T, V>(shape, columns)));
}

// Warps that share a tile's encoding spikes, a power of two: as many as are resident together, each
// with a group in about every stage. Sums depend on this number, which therefore must not depend on
// time chunks or tiles of places.
template <class T, class V>
int parts_of_spikes(const DecodeTiling& tiling, const Shape& shape, const Options& options) {
  const int columns = columns_per_block(tiling, {.cut = options.cut});
  const auto warps =
      most_spike_tiles(shape, 1, group * tiling.row_tiles) * parts(tiling.width, columns);
  std::int64_t groups = 0;
  for (const auto spikes : shape.encoding) groups = std::max(groups, parts(spikes, group));
  const bool cut = options.cut && tiling.source == formed_places;  // a cut skips whole stages
  const int room = cut ? cut_groups : stage_room<T, V>(tiling, shape, columns, most_mark_warps);
  int sharing = 1;
  while (2 * sharing <= std::min<std::int64_t>(groups, most_mark_warps) && sharing < room &&
         2 * sharing * warps <= mark_warps_at_work)
    sharing *= 2;
  return sharing;
}

// The most spikes per block that still leave enough blocks; `block` is rounded up to whole warps.
int warps_per_block(const DecodeTiling& tiling, const Shape& shape, const Options& options) {
  const int each = group * tiling.row_tiles;
  if (options.block > 0)
    return static_cast<int>(std::min<std::int64_t>(parts(options.block, each), most_mark_warps));
  for (int warps = std::min(default_warps, most_mark_warps / tiling.parts); warps > 1; warps /= 2) {
    const auto tiles = most_spike_tiles(shape, options.chunks, each * warps);
    if (tiles * parts(tiling.width, tiling.columns) >= enough_blocks) return warps;
  }
  return 1;
}

// The fewest columns that still give every block its own multiprocessor, though blocks then repeat
// kernel values of marks. With a cut, columns would change which pairs are skipped.
int run_of_columns(const DecodeTiling& tiling, const Shape& shape, const Options& options) {
  if (tiling.source == formed_places && (options.position_tile > 0 || options.cut))
    return tiling.columns;
  const auto tiles = most_spike_tiles(shape, options.chunks, tiling.tile_spikes());
  int run = tiling.columns;
  while (run > group) {
    const int half = rounded_up(run / 2, group);
    if (tiles * parts(tiling.width, half) > multiprocessors) break;
    run = half;
  }
  return run;
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
  tiling.parts = parts_of_spikes<T, V>(tiling, shape, options);
  tiling.warps = warps_per_block(tiling, shape, options);
  // A large `block` may leave fewer warps to share encoding spikes; its sums then round
  // differently.
  while (tiling.mark_warps() > most_mark_warps) tiling.parts /= 2;
  tiling.run = run_of_columns(tiling, shape, options);

  const int wanted = options.encoding_tile == 0
                         ? 2 * std::max(1, tiling.parts / 2)
                         : static_cast<int>(parts(options.encoding_tile, group));
  const int room = stage_room<T, V>(tiling, shape, tiling.columns, tiling.mark_warps());
  tiling.stage_groups = std::max(1, std::min(wanted, room));
  const std::size_t shared_sums =
      static_cast<std::size_t>(tiling.mark_warps() / 2) * group * tiling.row_tiles * tiling.columns;
  tiling.mark_bytes =
      2 * static_cast<std::size_t>(tiling.stage_groups) * group_bytes<T, V>(shape, tiling.columns) +
      static_cast<std::size_t>(tiling.mark_warps()) * exchange_bytes<V>(tiling.row_tiles);
  if (tiling.parts > 1) tiling.mark_bytes = std::max(tiling.mark_bytes, shared_sums * sizeof(T));

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

  // About 128 spikes per warp, fewer as long as all warps are resident together.
  const std::int64_t rows = shape.rows, spikes = std::max<std::int64_t>(shape.decoding_total(), 1);
  const auto runs = parts(shape.bins, two_hop ? tiling.bins : 64);
  const auto for_work = 128 * rows / spikes, for_warps = parts(rows * runs, place_warps_at_work);
  tiling.rows_per_warp =
      static_cast<int>(std::clamp<std::int64_t>(std::min(for_work, for_warps), 1, 1 << 20));
  return tiling;
}

template DecodeTiling decode_tiling<float, SplitBf16>(const Shape&, const Plan&);
template DecodeTiling decode_tiling<float, Tf32>(const Shape&, const Plan&);
template DecodeTiling decode_tiling<float, float>(const Shape&, const Plan&);
template DecodeTiling decode_tiling<double, double>(const Shape&, const Plan&);

}  // namespace holdfast::clusterless_kde
