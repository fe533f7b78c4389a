// SPDX-License-Identifier: Apache-2.0
#include "clusterless_kde/device/cuda_encoding.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "clusterless_kde/problem/follower.hpp"
#include "clusterless_kde/problem/range.hpp"

namespace holdfast::clusterless_kde {
namespace {

using Place = std::array<double, 2>;

constexpr std::int64_t groups_worth_sharing = 500;  // each takes half a microsecond
constexpr std::int64_t least_tile_groups = 16, most_tiles = 2048;

std::int64_t parts_of(std::int64_t count, std::int64_t each) {
  return (count + each - 1) / each;
}

// Bits of a coordinate with a zero before each, so that two interleave.
std::uint64_t spread(std::uint64_t bits) {
  bits &= 0xffffffff;
  bits = (bits | bits << 16) & 0x0000ffff0000ffff;
  bits = (bits | bits << 8) & 0x00ff00ff00ff00ff;
  bits = (bits | bits << 4) & 0x0f0f0f0f0f0f0f0f;
  bits = (bits | bits << 2) & 0x3333333333333333;
  return (bits | bits << 1) & 0x5555555555555555;
}

// A sort key whose neighbours are mostly neighbours in space: the coordinate on a track, a
// space-filling curve through Gaussian-wide cells in a plane.
std::uint64_t along_curve(const Place& at) {
  const auto cell = [](double x) {
    constexpr double most = 1 << 30;
    return static_cast<std::uint64_t>(std::clamp(x, -most, most) + most);
  };
  return spread(cell(at[0])) | spread(cell(at[1])) << 1;
}

// An origin that keeps coordinates small, where single precision is finest.
double middle_of_places(const Input& input, int axis) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (std::size_t i = axis; i < input.places.size(); i += input.dimensions) {
    low = std::min(low, input.places[i]);
    high = std::max(high, input.places[i]);
  }
  return (low + high) / 2;
}

// A kept spike of an electrode.
struct Found {
  std::size_t index = 0;
  Place at = {};
};

// Sorts into the order that a cut needs.
void sort_by_position(std::vector<Found>& spikes, int dimensions) {
  if (dimensions == 1)
    std::ranges::stable_sort(spikes, {}, [](const Found& spike) { return spike.at[0]; });
  else
    std::ranges::stable_sort(spikes, {}, [](const Found& spike) { return along_curve(spike.at); });
}

}  // namespace

Nodes nodes_of(const Shape& shape, Path path, Precision precision) {
  return path == Path::two_hop ? nodes(shape, precision) : Nodes{};
}

EncodingLayout::EncodingLayout(const Shape& shape, int batches)
    : group_begin{0}, sample_groups(parts_of(shape.samples, group_items)) {
  for (const std::int64_t spikes : shape.encoding)
    group_begin.push_back(group_begin.back() + parts_of(spikes, group_items));
  tile_groups = std::max(least_tile_groups, parts_of(groups() + sample_groups, most_tiles));
  tile_begin.push_back(0);
  const auto add_tiles = [&](std::int64_t of_groups) {
    tile_begin.push_back(tile_begin.back() +
                         static_cast<std::int32_t>(parts_of(of_groups, tile_groups)));
  };
  for (std::size_t e = 0; e < shape.encoding.size(); ++e)
    add_tiles(group_begin[e + 1] - group_begin[e]);
  add_tiles(sample_groups);
  for (int b = 0; b <= batches; ++b)
    batch_begin.push_back(static_cast<int>(std::int64_t{b} * shape.electrodes / batches));
}

int EncodingLayout::batch_of(int electrode) const {
  const auto next = std::ranges::upper_bound(batch_begin, electrode);
  return static_cast<int>(next - batch_begin.begin()) - 1;
}

std::int64_t EncodingLayout::most_batch_groups() const {
  std::int64_t most = 0;
  for (int b = 0; b < batches(); ++b) most = std::max(most, first_group(b + 1) - first_group(b));
  return most;
}

template <class T>
Packing EncodingSpikes<T>::pack(const Shape& shape, bool cut, int batches, Parts& parts) {
  const EncodingLayout layout(shape, batches);
  const auto d = static_cast<std::size_t>(shape.dimensions);
  const auto items = static_cast<std::size_t>(layout.most_batch_groups() * group_items);
  Packing packing;
  parts.features = packing.add<T>(items * static_cast<std::size_t>(shape.features));
  parts.positions = packing.add<T>(items * d);
  parts.places = packing.add<T>(static_cast<std::size_t>(shape.bins) * d);
  parts.bounds = packing.add<T>(cut ? items / group_items * 2 * d : 0);
  return packing;
}

template <class T>
EncodingSpikes<T>::EncodingSpikes(Backend& backend, const Shape& shape, const Nodes& nodes,
                                  bool cut, int batches)
    : dimensions_(shape.dimensions),
      features_(shape.features),
      cut_(cut),
      layout_(shape, batches),
      first_node_(nodes.count > 0 ? nodes.first : std::numeric_limits<double>::quiet_NaN()),
      parcel_(backend, pack(shape, cut, batches, parts_), "encoding spikes", batches) {
  for (int j = 0; j < dimensions_; ++j) unit_[j] = gaussian_unit(shape.position_bandwidth[j]);
  grid_ = {nodes.count, T(nodes.spacing * unit_[0]), T(nodes.weight)};
}

template <class T>
std::int64_t EncodingSpikes<T>::bytes(const Shape& shape, bool cut, int batches) {
  Parts parts;
  return static_cast<std::int64_t>(pack(shape, cut, batches, parts).bytes());
}

template <class T>
double EncodingSpikes<T>::scaled(double position, int axis) const {
  return (position - origin_[axis]) * unit_[axis];
}

template <class T>
void EncodingSpikes<T>::prepare(const Input& input) {
  for (int j = 0; j < dimensions_; ++j)
    origin_[j] = grid_.count > 0 ? first_node_ : middle_of_places(input, j);
  for (int batch = 0; batch < layout_.batches(); ++batch) {
    const auto places = parcel_.host(parts_.places, batch);
    for (std::size_t i = 0; i < places.size(); ++i)
      places[i] = T(scaled(input.places[i], static_cast<int>(i) % dimensions_));
  }
  mark_unit_.clear();
  for (const double s : input.feature_bandwidth) mark_unit_.push_back(gaussian_unit(s));
  if (cut_) host_bounds_.resize(static_cast<std::size_t>(layout_.groups() * 2 * dimensions_));
#pragma omp parallel for schedule(dynamic) \
    num_threads(host_limits().threads) if (layout_.groups() > groups_worth_sharing)
  for (int e = 0; e < input.electrodes(); ++e) place_electrode(input, e);
  if (cut_) lowest_floor_ = clusterless_kde::lowest_floor(input);
}

// Places an electrode's kept spikes, padding the last group.
template <class T>
void EncodingSpikes<T>::place_electrode(const Input& input, int electrode) {
  const Spikes& spikes = input.encoding_spikes[electrode];
  const double first = input.encoding.times.front(), last = input.encoding.times.back();
  std::vector<Found> found;
  found.reserve(spikes.times.size());
  Follower follower(input.encoding, dimensions_);
  for (std::size_t i = 0; i < spikes.times.size(); ++i) {
    if (spikes.times[i] < first || spikes.times[i] > last) continue;
    follower.go_to(spikes.times[i]);
    found.push_back(
        {i, {scaled(follower.at(0), 0), dimensions_ > 1 ? scaled(follower.at(1), 1) : 0}});
  }
  if (cut_) sort_by_position(found, dimensions_);

  const int batch = layout_.batch_of(electrode);
  const std::int64_t groups = layout_.group_begin[electrode + 1] - layout_.group_begin[electrode];
  const std::int64_t items = groups * group_items;
  const std::int64_t begin =
      (layout_.group_begin[electrode] - layout_.first_group(batch)) * group_items;
  T* const features = parcel_.host(parts_.features, batch).data() + begin * features_;
  T* const positions = parcel_.host(parts_.positions, batch).data() + begin * dimensions_;
  const auto real = static_cast<std::int64_t>(found.size());
  for (std::int64_t i = 0; i < items; ++i) {
    const std::int64_t group = i / group_items, item = i % group_items;
    for (int f = 0; f < features_; ++f)
      features[(group * features_ + f) * group_items + item] =
          i < real ? T(spikes.features[found[i].index * features_ + f] * mark_unit_[f]) : T(0);
    for (int j = 0; j < dimensions_; ++j)
      positions[(group * dimensions_ + j) * group_items + item] =
          T(i < real ? found[i].at[j] : far_position);
  }
  if (cut_) bound_electrode(electrode, real);
}

// Boxes around the true positions of each group.
template <class T>
void EncodingSpikes<T>::bound_electrode(int electrode, std::int64_t spikes) {
  const int batch = layout_.batch_of(electrode);
  const std::int64_t d = dimensions_, begin = layout_.group_begin[electrode];
  const std::int64_t first = begin - layout_.first_group(batch);
  const T* positions = parcel_.host(parts_.positions, batch).data() + first * d * group_items;
  T* boxes = parcel_.host(parts_.bounds, batch).data() + first * 2 * d;
  for (std::int64_t group = 0; group < parts_of(spikes, group_items); ++group) {
    const auto count = std::min<std::int64_t>(spikes - group * group_items, group_items);
    for (std::int64_t j = 0; j < d; ++j) {
      const T* at = positions + (group * d + j) * group_items;
      const auto [low, high] = std::minmax_element(at, at + count);
      boxes[group * 2 * d + j] = *low;
      boxes[group * 2 * d + d + j] = *high;
    }
    std::copy_n(boxes + group * 2 * d, 2 * d, host_bounds_.begin() + (begin + group) * 2 * d);
  }
}

template <class T>
Packing ColumnSums<T>::pack(const Shape& shape, Totals totals, Parts& parts) {
  const EncodingLayout layout(shape);
  Packing packing;
  parts.samples = packing.add<T>(static_cast<std::size_t>(layout.sample_groups * group_items) *
                                 shape.dimensions);
  parts.tiles = packing.add<ItemTile>(static_cast<std::size_t>(layout.tiles()));
  parts.tile_begin =
      packing.add<std::int32_t>(totals == Totals::spikes ? 3 : layout.tile_begin.size());
  return packing;
}

namespace {

std::size_t partial_count(const Shape& shape, std::int64_t columns) {
  return static_cast<std::size_t>(EncodingLayout(shape).tiles() * columns);
}
std::size_t sum_count(const Shape& shape, std::int64_t columns, Totals totals) {
  const int groups[] = {0, shape.electrodes + 1, 2};
  return static_cast<std::size_t>(groups[static_cast<int>(totals)] * columns);
}

}  // namespace

template <class T>
ColumnSums<T>::ColumnSums(Backend& backend, const Shape& shape, std::int64_t columns, Totals totals,
                          int batches)
    : dimensions_(shape.dimensions),
      columns_(static_cast<int>(columns)),
      layout_(shape, batches),
      parcel_(backend, pack(shape, totals, parts_), "trajectory"),
      partial_(backend, whole_units<double>(partial_count(shape, columns)), "partial sums"),
      sums_(backend, whole_units<double>(sum_count(shape, columns, totals)), "node sums") {}

template <class T>
std::int64_t ColumnSums<T>::bytes(const Shape& shape, std::int64_t columns, Totals totals) {
  Parts parts;
  return static_cast<std::int64_t>(pack(shape, totals, parts).bytes() +
                                   sizeof(double) *
                                       (whole_units<double>(partial_count(shape, columns)) +
                                        whole_units<double>(sum_count(shape, columns, totals))));
}

template <class T>
void ColumnSums<T>::upload(const Input& input, const EncodingSpikes<T>& spikes) {
  const auto samples = parcel_.host(parts_.samples);
  const auto d = static_cast<std::size_t>(dimensions_);
  const std::size_t items = samples.size() / d, real = static_cast<std::size_t>(input.samples());
  for (std::size_t i = 0; i < items; ++i)
    for (std::size_t j = 0; j < d; ++j)
      samples[(i / group_items * d + j) * group_items + i % group_items] =
          T(i < real ? spikes.scaled(input.encoding.positions[i * d + j], static_cast<int>(j))
                     : far_position);

  const auto tiles = parcel_.host(parts_.tiles);
  const int electrodes = input.electrodes();
  std::size_t tile = 0;
  for (int group = 0; group <= electrodes; ++group) {
    const bool of_spikes = group < electrodes;
    const std::int64_t loaded = of_spikes ? layout_.first_group(layout_.batch_of(group)) : 0;
    const std::int64_t begin = of_spikes ? layout_.group_begin[group] - loaded : 0;
    const std::int64_t end =
        of_spikes ? layout_.group_begin[group + 1] - loaded : layout_.sample_groups;
    for (std::int64_t at = begin; at < end; at += layout_.tile_groups)
      tiles[tile++] = {static_cast<int>(at),
                       static_cast<int>(std::min(layout_.tile_groups, end - at)), group};
  }
  const auto tile_begin = parcel_.host(parts_.tile_begin);
  if (tile_begin.size() == layout_.tile_begin.size())
    std::ranges::copy(layout_.tile_begin, tile_begin.begin());
  else  // all spikes together
    std::ranges::copy(std::array{0, layout_.tile_begin[electrodes], layout_.tile_begin.back()},
                      tile_begin.begin());
  parcel_.send();
}

template <class T>
ColumnSums<T>::Tiles ColumnSums<T>::tiles(int batch) const {
  const bool last = batch + 1 == layout_.batches();
  const std::int64_t begin = layout_.tile_begin[layout_.batch_begin[batch]];
  const std::int64_t end =
      last ? layout_.tiles() : layout_.tile_begin[layout_.batch_begin[batch + 1]];
  return {parcel_.device(parts_.tiles) + begin, partial_.data() + begin * columns_,
          static_cast<unsigned>(end - begin)};
}

template class EncodingSpikes<float>;
template class EncodingSpikes<double>;
template class ColumnSums<float>;
template class ColumnSums<double>;

}  // namespace holdfast::clusterless_kde
