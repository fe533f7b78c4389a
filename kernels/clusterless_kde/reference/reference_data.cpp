// SPDX-License-Identifier: Apache-2.0
#include "clusterless_kde/reference/reference_data.hpp"

#include <algorithm>
#include <numeric>

namespace holdfast::clusterless_kde {
namespace {

template <class T>
std::vector<T> rounded(const std::vector<double>& values) {
  std::vector<T> all(values.size());
  std::transform(values.begin(), values.end(), all.begin(),
                 [](double x) { return static_cast<T>(x); });
  return all;
}

// Transposes values[count, axes] to [axes, count].
template <class T>
std::vector<T> by_axis(const std::vector<double>& values, int axes) {
  const std::size_t count = values.size() / axes;
  std::vector<T> all(values.size());
  for (std::size_t i = 0; i < count; ++i)
    for (int axis = 0; axis < axes; ++axis)
      all[axis * count + i] = static_cast<T>(values[i * axes + axis]);
  return all;
}

template <class T>
std::vector<std::vector<T>> rounded_features(const std::vector<Spikes>& electrodes) {
  std::vector<std::vector<T>> all;
  for (const Spikes& spikes : electrodes) all.push_back(rounded<T>(spikes.features));
  return all;
}

std::int64_t before(const std::vector<std::int64_t>& counts, int electrode) {
  return std::accumulate(counts.begin(), counts.begin() + electrode, std::int64_t{0});
}

// to[axis * count + k] = from[which[k] * axes + axis].
template <class T>
void gather(const std::vector<T>& from, const std::vector<std::int64_t>& which, int axes, T* to) {
  const std::size_t count = which.size();
  for (std::size_t k = 0; k < count; ++k)
    for (int axis = 0; axis < axes; ++axis) to[axis * count + k] = from[which[k] * axes + axis];
}

// Stores the animal's position at time t as number k of `count`.
template <class T>
void locate(const Trajectory& trajectory, int dimensions, double t, std::int64_t k,
            std::int64_t count, T* to) {
  double at[2] = {};
  interpolate(trajectory, dimensions, t, {at, static_cast<std::size_t>(dimensions)});
  for (int axis = 0; axis < dimensions; ++axis) to[axis * count + k] = static_cast<T>(at[axis]);
}

std::int64_t most_summed(const Shape& shape) {
  std::int64_t most = shape.samples;
  for (const std::int64_t n : shape.encoding) most = std::max(most, n);
  return most;
}

template <class T>
std::vector<T> reciprocals(const std::vector<double>& values) {
  std::vector<T> all;
  for (const double x : values) all.push_back(static_cast<T>(1 / x));
  return all;
}

}  // namespace

template <class T>
EncodingData<T>::EncodingData(Backend& backend, const Input& input, const Shape& shape)
    : input_(&input),
      shape_(&shape),
      rounded_trajectory_(by_axis<T>(input.encoding.positions, input.dimensions)),
      rounded_places_(by_axis<T>(input.places, input.dimensions)),
      rounded_features_(rounded_features<T>(input.encoding_spikes)),
      staged_positions_(shape.encoding_total() * shape.dimensions),
      staged_features_(shape.encoding_total() * shape.features),
      trajectory_(backend, rounded_trajectory_.size(), "encoding data"),
      places_(backend, rounded_places_.size(), "encoding data"),
      positions_(backend, staged_positions_.size(), "encoding data"),
      features_(backend, staged_features_.size(), "encoding data"),
      weights_(backend, std::vector<T>(most_summed(shape), T(1)), "encoding data"),
      inverse_widths_(backend, reciprocals<T>(input.feature_bandwidth), "encoding data"),
      occupancy_(backend, shape.bins, "model"),
      ground_(backend, shape.bins, "model") {}

template <class T>
void EncodingData<T>::round() {
  rounded_trajectory_ = by_axis<T>(input_->encoding.positions, input_->dimensions);
  rounded_features_ = rounded_features<T>(input_->encoding_spikes);
}

template <class T>
void EncodingData<T>::upload() {
  const std::vector<double>& tau = input_->encoding.times;
  const int d = shape_->dimensions, features = shape_->features;
  std::int64_t begin = 0;
  for (int e = 0; e < shape_->electrodes; ++e) {
    const std::vector<double>& times = input_->encoding_spikes[e].times;
    const std::vector<std::int64_t> which = kept(times, tau.front(), tau.back());
    const auto n = static_cast<std::int64_t>(which.size());
    for (std::int64_t k = 0; k < n; ++k)
      locate(input_->encoding, d, times[which[k]], k, n, staged_positions_.data() + begin * d);
    gather(rounded_features_[e], which, features, staged_features_.data() + begin * features);
    begin += n;
  }
  trajectory_.upload(rounded_trajectory_);
  places_.upload(rounded_places_);
  positions_.upload(staged_positions_);
  features_.upload(staged_features_);
}

template <class T>
const T* EncodingData<T>::positions(int electrode) const {
  return positions_.data() + before(shape_->encoding, electrode) * shape_->dimensions;
}
template <class T>
const T* EncodingData<T>::features(int electrode) const {
  return features_.data() + before(shape_->encoding, electrode) * shape_->features;
}

template <class T>
DecodingData<T>::DecodingData(Backend& backend, const Input& input, const Shape& shape, Along along)
    : input_(&input),
      shape_(&shape),
      rounded_features_(rounded_features<T>(input.decoding_spikes)),
      staged_features_(shape.decoding_total() * shape.features),
      staged_at_spikes_(along == Along::trajectory ? shape.decoding_total() * shape.dimensions : 0),
      staged_at_edges_(along == Along::trajectory ? shape.rows * shape.dimensions : 0),
      staged_rows_(shape.decoding_total()),
      features_(backend, staged_features_.size(), "decoding data"),
      rows_(backend, staged_rows_.size(), "decoding data"),
      at_spikes_(backend, staged_at_spikes_.size(), "decoding data"),
      at_edges_(backend, staged_at_edges_.size(), "decoding data") {}

template <class T>
void DecodingData<T>::round() {
  rounded_features_ = rounded_features<T>(input_->decoding_spikes);
}

template <class T>
void DecodingData<T>::upload() {
  const std::vector<double>& edges = input_->edges;
  const int d = shape_->dimensions, features = shape_->features;
  std::int64_t begin = 0;
  for (int e = 0; e < shape_->electrodes; ++e) {
    const std::vector<double>& times = input_->decoding_spikes[e].times;
    const std::vector<std::int64_t> which = kept(times, edges.front(), edges.back());
    const auto m = static_cast<std::int64_t>(which.size());
    for (std::int64_t k = 0; k < m; ++k)
      staged_rows_[begin + k] = static_cast<std::int32_t>(row_of(edges, times[which[k]]));
    if (!staged_at_spikes_.empty())
      for (std::int64_t k = 0; k < m; ++k)
        locate(input_->decoding, d, times[which[k]], k, m, staged_at_spikes_.data() + begin * d);
    gather(rounded_features_[e], which, features, staged_features_.data() + begin * features);
    begin += m;
  }
  for (std::size_t t = 0; t < staged_at_edges_.size() / d; ++t)
    locate(input_->decoding, d, edges[t], static_cast<std::int64_t>(t), shape_->rows,
           staged_at_edges_.data());
  features_.upload(staged_features_);
  rows_.upload(staged_rows_);
  if (at_edges_.size() == 0) return;
  at_spikes_.upload(staged_at_spikes_);
  at_edges_.upload(staged_at_edges_);
}

template <class T>
const T* DecodingData<T>::features(int electrode) const {
  return features_.data() + before(shape_->decoding, electrode) * shape_->features;
}
template <class T>
const std::int32_t* DecodingData<T>::rows(int electrode) const {
  return rows_.data() + before(shape_->decoding, electrode);
}
template <class T>
const T* DecodingData<T>::at_spikes(int electrode) const {
  return at_spikes_.data() + before(shape_->decoding, electrode) * shape_->dimensions;
}

template class EncodingData<float>;
template class EncodingData<double>;
template class DecodingData<float>;
template class DecodingData<double>;

}  // namespace holdfast::clusterless_kde
