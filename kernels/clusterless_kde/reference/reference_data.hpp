// SPDX-License-Identifier: Apache-2.0
// The reference's data on its backend, and their upload from the host's arrays in each step. One
// axis after the other, so that a step reads one position or feature of all spikes contiguously.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "clusterless_kde/problem/input.hpp"
#include "clusterless_kde/problem/preparation.hpp"
#include "runtime/backend/buffer.hpp"

namespace holdfast::clusterless_kde {

// Data of the encoding phase: inputs, and the model made from them.
template <class T>
class EncodingData {
 public:
  EncodingData(Backend& backend, const Input& input, const Shape& shape);
  void round();   // converts the input to the backend's precision
  void upload();  // selects spikes, interpolates positions, then uploads

  std::int64_t count(int electrode) const { return shape_->encoding[electrode]; }  // n
  const T* positions(int electrode) const;                                         // u[d, n]
  const T* features(int electrode) const;                                          // y[D, n]
  const T* trajectory() const { return trajectory_.data(); }                       // x[d, K]
  const T* places() const { return places_.data(); }                               // g[d, P]
  const T* weights() const { return weights_.data(); }  // ones, as many as any sum has terms
  const T* inverse_widths() const { return inverse_widths_.data(); }  // 1 / s [D]

  Buffer<T>& occupancy() { return occupancy_; }  // o[P]
  Buffer<T>& ground() { return ground_; }        // G[P]

 private:
  const Input* input_;
  const Shape* shape_;
  std::vector<T> rounded_trajectory_, rounded_places_;
  std::vector<std::vector<T>> rounded_features_;  // per electrode, in the input's layout
  std::vector<T> staged_positions_, staged_features_;
  Buffer<T> trajectory_, places_, positions_, features_, weights_, inverse_widths_;
  Buffer<T> occupancy_, ground_;
};

// Where the local likelihood needs densities, besides the spikes' features.
enum class Along { places, trajectory };

template <class T>
class DecodingData {
 public:
  DecodingData(Backend& backend, const Input& input, const Shape& shape, Along along);
  void round();   // converts the input to the backend's precision
  void upload();  // selects spikes and their rows, then uploads

  std::int64_t count(int electrode) const { return shape_->decoding[electrode]; }  // m
  const T* features(int electrode) const;                                          // z[D, m]
  const std::int32_t* rows(int electrode) const;                                   // [m], ascending
  const T* at_spikes(int electrode) const;                                         // X(t) [d, m]
  const T* at_edges() const { return at_edges_.data(); }                           // X(c) [d, T]

 private:
  const Input* input_;
  const Shape* shape_;
  std::vector<std::vector<T>> rounded_features_;
  std::vector<T> staged_features_, staged_at_spikes_, staged_at_edges_;
  std::vector<std::int32_t> staged_rows_;
  Buffer<T> features_;
  Buffer<std::int32_t> rows_;
  Buffer<T> at_spikes_, at_edges_;  // empty if `along` is places
};

}  // namespace holdfast::clusterless_kde
