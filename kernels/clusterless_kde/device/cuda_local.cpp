// SPDX-License-Identifier: Apache-2.0
#include "clusterless_kde/device/cuda_local.hpp"

#include <algorithm>
#include <type_traits>

#include "clusterless_kde/device/arguments.hpp"
#include "clusterless_kde/device/cuda_model.hpp"
#include "clusterless_kde/device/model_arguments.hpp"
#include "clusterless_kde/problem/follower.hpp"
#include "runtime/count/scope.hpp"

namespace holdfast::clusterless_kde {
namespace {

template <class T>
Nodes nodes_if_used(const Shape& shape) {
  return local_node_count(shape, holdfast::precision_of<T>) > 0
             ? nodes(shape, holdfast::precision_of<T>)
             : Nodes{};
}

template <class T>
Totals totals_of(const Shape& shape) {
  return local_node_count(shape, holdfast::precision_of<T>) > 0 ? Totals::spikes : Totals::none;
}

std::size_t at_least_one(std::int64_t count) {
  return static_cast<std::size_t>(std::max<std::int64_t>(count, 1));
}

// Launch of local_spikes and local_rows: one warp for each.
LaunchShape warps(std::int64_t count) {
  return {.grid = {blocks(count, local_warps)}, .block = {32 * local_warps}};
}

}  // namespace

int local_node_count(const Shape& shape, Precision precision) {
  if (shape.dimensions != 1) return 0;
  const int count = nodes(shape, precision).count;
  const double items = static_cast<double>(shape.samples + shape.encoding_total());
  const double rows = static_cast<double>(shape.rows);
  const double spikes = static_cast<double>(shape.decoding_total());
  const double direct = rows * items + spikes * static_cast<double>(shape.samples);
  return count * (items + 2 * rows + spikes) < direct ? count : 0;
}

template <class T>
struct CudaLocal<T>::Kernels : LocalKernels<T> {
  using LocalKernels<T>::LocalKernels;

  LocalModel<T> model = {};
  LocalDecoding<T> heard = {};
};

template <class T>
Packing CudaLocal<T>::pack(const Shape& shape, Parts& parts) {
  const auto d = static_cast<std::size_t>(shape.dimensions);
  const auto spikes = static_cast<std::size_t>(shape.decoding_total());
  const auto rows = static_cast<std::size_t>(shape.rows);
  Packing packing;
  parts.features = packing.add<T>(spikes * static_cast<std::size_t>(shape.features));
  parts.at_spikes = packing.add<T>(spikes * d);
  parts.at_edges = packing.add<T>(rows * d);
  parts.electrode = packing.add<std::int32_t>(spikes);
  parts.group_begin = packing.add<std::int32_t>(static_cast<std::size_t>(shape.electrodes) + 1);
  parts.row_begin = packing.add<std::int32_t>(rows + 1);
  return packing;
}

template <class T>
CudaLocal<T>::CudaLocal(Backend& backend, const Input& input, const Options& options)
    : input_(input),
      shape_(shape(input)),
      spikes_(backend, shape_, nodes_if_used<T>(shape_), false, 1),
      columns_(backend, shape_, spikes_.nodes().count, totals_of<T>(shape_), 1),
      parcel_(backend, pack(shape_, parts_), "decoding spikes"),
      logs_(backend, at_least_one(shape_.decoding_total()), "spike terms"),
      out_(backend, static_cast<std::size_t>(shape_.rows), "out"),
      kernels_(std::make_unique<Kernels>(*backend.compiler, shape_.features, shape_.dimensions,
                                         options.local_floor)) {
  encode(*backend.compiler);
}
template <class T>
CudaLocal<T>::~CudaLocal() = default;

template <class T>
std::int64_t CudaLocal<T>::bytes(const Shape& shape) {
  Parts parts;
  const auto own = pack(shape, parts).bytes() + sizeof(T) * (at_least_one(shape.decoding_total()) +
                                                             static_cast<std::size_t>(shape.rows));
  return static_cast<std::int64_t>(own) + EncodingSpikes<T>::bytes(shape, false, 1) +
         ColumnSums<T>::bytes(shape, local_node_count(shape, holdfast::precision_of<T>),
                              totals_of<T>(shape));
}

template <class T>
void CudaLocal<T>::encode(Compiler& compiler) {
  spikes_.prepare(input_);
  spikes_.load(0);
  columns_.upload(input_, spikes_);
  const NodeGrid<T>& grid = spikes_.nodes();
  if (grid.count > 0) {
    const NodeSumKernels<T> sums(compiler);
    const auto [tiles, partial, count] = columns_.tiles(0);
    sums.column_sums(column_tiles(count, grid.count), spikes_.positions(), columns_.samples(),
                     tiles, shape_.electrodes, spikes_.places(), grid.spacing, grid.count, nullptr,
                     partial);
    sums.group_sums(column_lanes(grid.count, columns_.totals()), columns_.partial(),
                    columns_.tile_begin(), grid.count, columns_.sums());
  }
  kernels_->model = {.features = spikes_.features(),
                     .positions = spikes_.positions(),
                     .samples = columns_.samples(),
                     .sums = columns_.sums(),
                     .groups = static_cast<int>(spikes_.layout().groups()),
                     .sample_groups = columns_.sample_groups(),
                     .nodes = grid.count,
                     .spacing = grid.spacing,
                     .weight = grid.weight,
                     .log_mark_norm = log_mark_norm(input_)};
  kernels_->heard = {.features = parcel_.device(parts_.features),
                     .at_spikes = parcel_.device(parts_.at_spikes),
                     .electrode = parcel_.device(parts_.electrode),
                     .group_begin = parcel_.device(parts_.group_begin),
                     .at_edges = parcel_.device(parts_.at_edges),
                     .row_begin = parcel_.device(parts_.row_begin),
                     .spikes = static_cast<int>(shape_.decoding_total()),
                     .rows = static_cast<int>(shape_.rows)};
}

template <class T>
void CudaLocal<T>::prepare() {
  order(input_, order_);
  const int d = shape_.dimensions, features = shape_.features;
  std::vector<double> unit;
  for (const double s : input_.feature_bandwidth) unit.push_back(gaussian_unit(s));
  Follower follower(input_.decoding, d);
  const auto put = [&](double t, T* to) {
    follower.go_to(t);
    for (int j = 0; j < d; ++j) to[j] = T(spikes_.scaled(follower.at(j), j));
  };

  const auto marks = parcel_.host(parts_.features), at_spikes = parcel_.host(parts_.at_spikes);
  const auto electrode = parcel_.host(parts_.electrode);
  for (std::size_t j = 0; j < order_.spikes.size(); ++j) {
    const auto& [e, index] = order_.spikes[j];
    const Spikes& spikes = input_.decoding_spikes[e];
    for (int f = 0; f < features; ++f)
      marks[j * features + f] = T(spikes.features[index * features + f] * unit[f]);
    put(spikes.times[index], &at_spikes[j * d]);
    electrode[j] = e;
  }
  const auto at_edges = parcel_.host(parts_.at_edges);
  for (std::size_t t = 0; t < input_.edges.size(); ++t) put(input_.edges[t], &at_edges[t * d]);
  std::ranges::copy(order_.row_begin, parcel_.host(parts_.row_begin).begin());
  const auto group_begin = parcel_.host(parts_.group_begin);
  for (int e = 0; e <= shape_.electrodes; ++e)
    group_begin[e] = static_cast<std::int32_t>(spikes_.layout().group_begin[e]);
}

template <class T>
void CudaLocal<T>::step() {
  {
    const Scope scope("prepare");
    prepare();
    parcel_.send();
  }
  if (shape_.decoding_total() > 0) {
    const Scope scope("local_spikes");
    kernels_->spikes(warps(shape_.decoding_total()), kernels_->model, kernels_->heard,
                     logs_.data());
  }
  const Scope scope("local_rows");
  kernels_->rows(warps(shape_.rows), kernels_->model, kernels_->heard, logs_.data(), out_.data());
}

template <class T>
std::vector<double> CudaLocal<T>::result() const {
  const std::vector<T> out = out_.to_host();
  return {out.begin(), out.end()};
}

template class CudaLocal<float>;
template class CudaLocal<double>;

}  // namespace holdfast::clusterless_kde
