// SPDX-License-Identifier: Apache-2.0
#include "clusterless_kde/device/cuda_decode.hpp"

#include <algorithm>
#include <span>

#include "clusterless_kde/problem/chunks.hpp"
#include "clusterless_kde/problem/spike_cut.hpp"
#include "runtime/count/scope.hpp"

namespace holdfast::clusterless_kde {

template <class T>
DecodeParts<T>::DecodeParts(const Shape& shape, std::int64_t tile_count) {
  const auto spikes = static_cast<std::size_t>(shape.decoding_total());
  features = packing.template add<T>(spikes * static_cast<std::size_t>(shape.features));
  order = packing.template add<std::int32_t>(spikes);
  rows = packing.template add<std::int32_t>(spikes);
  tiles = packing.template add<SpikeTile>(
      static_cast<std::size_t>(std::max<std::int64_t>(tile_count, 1)));
}

template <class T, class V>
CudaDecoder<T, V>::Sizes::Sizes(const Shape& shape, const Plan& plan, const DecodeTiling& tiling)
    : sums(static_cast<std::size_t>(std::max<std::int64_t>(plan.chunk_spikes, 1)) *
           static_cast<std::size_t>(tiling.stride)),
      out(static_cast<std::size_t>(plan.options.consume
                                       ? most_chunk_rows(plan.options.chunks, shape.rows)
                                       : shape.rows) *
          static_cast<std::size_t>(shape.bins)),
      consumed(plan.options.consume ? 2 * static_cast<std::size_t>(shape.rows) : 0) {}

template <class T, class V>
std::int64_t CudaDecoder<T, V>::bytes(const Shape& shape, const Plan& plan) {
  const auto tiling = decode_tiling<T, V>(shape, plan);
  const DecodeParts<T> parts(shape,
                             most_spike_tiles(shape, plan.options.chunks, tiling.tile_spikes()));
  const Sizes sizes(shape, plan, tiling);
  return static_cast<std::int64_t>(parts.packing.bytes() +
                                   sizeof(T) * (sizes.sums + sizes.out + sizes.consumed));
}

template <class T, class V>
CudaDecoder<T, V>::CudaDecoder(Backend& backend, const Input& input, const Shape& shape,
                               const Plan& plan, CudaModel<T, V>& model)
    : device_(*backend.device),
      input_(input),
      shape_(shape),
      plan_(plan),
      model_(model),
      tiling_(decode_tiling<T, V>(shape, plan)),
      kernels_(*backend.compiler, tiling_, shape.features, shape.dimensions, plan.options),
      parts_(shape, most_spike_tiles(shape, plan.options.chunks, tiling_.tile_spikes())),
      parcel_(backend, parts_.packing, "decoding spikes"),
      sums_(backend, Sizes(shape, plan, tiling_).sums, "sums over encoding spikes"),
      out_(backend, Sizes(shape, plan, tiling_).out, "out"),
      cuts_(plan.options.cut && tiling_.source == formed_places),
      next_(static_cast<std::size_t>(shape.electrodes)) {
  if (const auto consumed = Sizes(shape, plan, tiling_).consumed; consumed > 0)
    consumed_.emplace(backend, consumed, "consumed");
  for (const double width : input.feature_bandwidth) units_.push_back(gaussian_unit(width));
}

template <class T, class V>
void CudaDecoder<T, V>::step() {
  {
    const Scope scope("prepare");
    prepare();
  }
  {
    const Scope scope("upload");
    parcel_.send();
  }
  if (chunks_.size() == 1 || model_.layout().batches() > 1) return launch_chunks();
  const Scope scope("chunks");
  if (!graph_) graph_ = device_.capture([&] { launch_chunks(); });
  device_.replay(*graph_);
}

template <class T, class V>
void CudaDecoder<T, V>::launch_chunks() {
  for (const Chunk& chunk : chunks_) {
    launch_marks(chunk);
    launch_places(chunk);
    if (plan_.options.consume) launch_consumer(chunk);
  }
}

// Each spike's row, features by electrode, and the tiles of every chunk.
template <class T, class V>
void CudaDecoder<T, V>::prepare() {
  order(input_, order_);
  std::int64_t before = 0;
  for (std::size_t e = 0; e < next_.size(); ++e) {
    next_[e] = before;
    before += shape_.decoding[e];
  }
  chunks_.clear();
  int tiles = 0;
  for (int c = 0; c < plan_.options.chunks; ++c) {
    const auto row = chunk_begin(c, plan_.options.chunks, shape_.rows),
               end_row = chunk_begin(c + 1, plan_.options.chunks, shape_.rows);
    if (row == end_row) continue;
    const auto begin = order_.row_begin[row], end = order_.row_begin[end_row];
    Chunk chunk = {.first_row = static_cast<int>(row),
                   .rows = static_cast<int>(end_row - row),
                   .first = static_cast<int>(begin),
                   .spikes = static_cast<int>(end - begin),
                   .first_tile = tiles};
    const std::vector<std::int64_t> starts = next_;
    const auto rows = parcel_.host(parts_.rows);
    for (auto t = row; t < end_row; ++t)
      std::fill(rows.begin() + order_.row_begin[t], rows.begin() + order_.row_begin[t + 1],
                static_cast<std::int32_t>(t));
    place_spikes(begin, end);
    tile_chunk(chunk, starts);
    tiles += chunk.tiles;
    chunks_.push_back(chunk);
  }
}

template <class T, class V>
void CudaDecoder<T, V>::place_spikes(std::int64_t begin, std::int64_t end) {
  const auto features = parcel_.host(parts_.features);
  const auto order = parcel_.host(parts_.order);
  const std::size_t count = units_.size();
  for (auto j = begin; j < end; ++j) {
    const auto [electrode, index] = order_.spikes[j];
    const auto at = static_cast<std::size_t>(next_[electrode]++);
    const double* mark = &input_.decoding_spikes[electrode].features[index * count];
    for (std::size_t f = 0; f < count; ++f)
      features[at * count + f] = static_cast<T>(mark[f] * units_[f]);
    order[at] = static_cast<std::int32_t>(j);
  }
}

template <class T, class V>
void CudaDecoder<T, V>::tile_chunk(Chunk& chunk, const std::vector<std::int64_t>& before) {
  const auto tiles = parcel_.host(parts_.tiles);
  const EncodingLayout& layout = model_.layout();
  chunk.batch_tiles.assign(layout.batches(), 0);
  for (int e = 0; e < shape_.electrodes; ++e) {
    const int batch = layout.batch_of(e), before_tiles = chunk.tiles;
    const auto group = static_cast<int>(layout.group_begin[e] - layout.first_group(batch)),
               groups = static_cast<int>(layout.group_begin[e + 1] - layout.group_begin[e]);
    for (auto at = before[e]; at < next_[e]; at += tiling_.tile_spikes())
      tiles[chunk.first_tile + chunk.tiles++] = {
          .spike = static_cast<int>(at),
          .spikes = static_cast<int>(std::min<std::int64_t>(tiling_.tile_spikes(), next_[e] - at)),
          .group = group,
          .groups = groups};
    chunk.batch_tiles[batch] += chunk.tiles - before_tiles;
  }
}

template <class T, class V>
void CudaDecoder<T, V>::launch_marks(const Chunk& chunk) {
  int first_tile = chunk.first_tile;
  for (int batch = 0; batch < model_.layout().batches(); ++batch) {
    const int tiles = chunk.batch_tiles[batch];
    if (tiles == 0) continue;
    const Scope scope("hop_a");
    if (model_.layout().batches() > 1) model_.load(batch);
    launch_tiles(chunk, first_tile, tiles);
    first_tile += tiles;
  }
}

template <class T, class V>
void CudaDecoder<T, V>::launch_tiles(const Chunk& chunk, int first_tile, int tiles) {
  kernels_.hop_a({.grid = {static_cast<unsigned>(tiles), blocks(tiling_.width, tiling_.run)},
                  .block = {32 * static_cast<unsigned>(tiling_.mark_warps())},
                  .shared_bytes = tiling_.mark_bytes},
                 {.tiles = parcel_.device(parts_.tiles) + first_tile,
                  .spikes = parcel_.device(parts_.features),
                  .order = parcel_.device(parts_.order),
                  .features = model_.features(),
                  .values = model_.psi(),
                  .positions = model_.positions(),
                  .places = model_.places(),
                  .spacing = model_.nodes().spacing,
                  .boxes = cuts_ ? model_.cut_bounds() : nullptr,
                  .cut = cuts_ ? static_cast<T>(cut_square<T>(model_.lowest_floor())) : T(0),
                  .sums = sums_.data(),
                  .first = chunk.first,
                  .width = tiling_.width,
                  .stride = tiling_.stride,
                  .run = tiling_.run,
                  .stage_groups = tiling_.stage_groups,
                  .parts = tiling_.parts});
}

template <class T, class V>
void CudaDecoder<T, V>::launch_places(const Chunk& chunk) {
  const bool two_hop = tiling_.source != formed_places;
  const Scope scope(two_hop ? "hop_b" : "sum_rows");
  const int first_output = plan_.options.consume ? chunk.first_row : 0;
  const auto arguments = [&]<class W>(const Quad<W>* phi) -> PlaceProduct<T, W> {
    return {.sums = sums_.data(),
            .rows = parcel_.device(parts_.rows),
            .phi = phi,
            .beta = model_.beta(),
            .ground = model_.ground(),
            .out = out_.data() + static_cast<std::size_t>(chunk.first_row - first_output) *
                                     static_cast<std::size_t>(shape_.bins),
            .first = chunk.first,
            .end = chunk.first + chunk.spikes,
            .first_row = chunk.first_row,
            .end_row = chunk.first_row + chunk.rows,
            .rows_per_warp = tiling_.rows_per_warp,
            .stride = tiling_.stride,
            .bins = static_cast<int>(shape_.bins),
            .node_groups = tiling_.width / group_items,
            .slab_groups = tiling_.slab_groups};
  };
  const auto rows_per_block = std::int64_t{tiling_.rows_per_warp} * place_warps;
  const LaunchShape shape = {
      .grid = {blocks(chunk.rows, rows_per_block),
               blocks(shape_.bins, two_hop ? tiling_.bins : sum_rows_columns)},
      .block = {32 * place_warps},
      .shared_bytes = two_hop ? tiling_.place_bytes : 0};
  if (two_hop)
    (*kernels_.hop_b)(shape, arguments(model_.phi()));
  else
    (*kernels_.sum_rows)(shape, arguments(static_cast<const Quad<T>*>(nullptr)));
}

template <class T, class V>
void CudaDecoder<T, V>::launch_consumer(const Chunk& chunk) {
  const Scope scope("consume");
  (*kernels_.consume)({.grid = {blocks(chunk.rows, place_warps)}, .block = {32 * place_warps}},
                      out_.data(), chunk.first_row, chunk.rows, static_cast<int>(shape_.bins),
                      consumed_->data(), consumed_->data() + shape_.rows);
}

template <class T, class V>
std::vector<double> CudaDecoder<T, V>::result() const {
  if (!device_.executes()) return {};  // zeros for a whole recording would fill gigabytes
  const std::vector<T> values = consumed_ ? consumed_->to_host() : out_.to_host();
  return {values.begin(), values.end()};
}

template <class T, class V>
std::vector<NamedReading> CudaDecoder<T, V>::readings() const {
  if (!cuts_) return {};
  return {{"tiles_visited_fraction", visited_fraction()}};
}

// The fraction of stages visited, over all spike tiles and runs of columns, by the rule of
// StageWalk in marks.cuh.
template <class T, class V>
double CudaDecoder<T, V>::visited_fraction() const {
  std::vector<T> places;
  for (std::size_t i = 0; i < input_.places.size(); ++i)
    places.push_back(
        static_cast<T>(model_.scaled(input_.places[i], static_cast<int>(i) % shape_.dimensions)));
  double visited = 0, all = 0;
  for (int e = 0; e < shape_.electrodes; ++e) {
    const auto begin = model_.layout().group_begin[e],
               groups = model_.layout().group_begin[e + 1] - begin;
    const auto tiles = (shape_.decoding[e] + tiling_.tile_spikes() - 1) / tiling_.tile_spikes();
    const auto boxes = std::span(model_.host_cut_bounds())
                           .subspan(2 * static_cast<std::size_t>(begin * shape_.dimensions));
    const Visits visits =
        visits_of<T>({.boxes = boxes,
                      .places = places,
                      .dimensions = shape_.dimensions,
                      .columns = tiling_.columns,
                      .groups = static_cast<int>(groups),
                      .stage_groups = tiling_.stage_groups,
                      .cut = static_cast<T>(cut_square<T>(model_.lowest_floor()))});
    visited += static_cast<double>(tiles) * visits.visited;
    all += static_cast<double>(tiles) * visits.all;
  }
  return all > 0 ? visited / all : 1;
}

template class CudaDecoder<float, SplitBf16>;
template class CudaDecoder<float, Tf32>;
template class CudaDecoder<float, float>;
template class CudaDecoder<double, double>;

}  // namespace holdfast::clusterless_kde
