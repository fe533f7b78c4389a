// SPDX-License-Identifier: Apache-2.0
// Prepares an input for the arithmetic: which spikes are kept, the animal's positions, each spike's
// row. Part of the timed region of every variant.
#pragma once

#include <cstdint>
#include <vector>

#include "clusterless_kde/problem/input.hpp"

namespace holdfast::clusterless_kde {

// The numbers on which plans, floors and estimates depend.
struct Shape {
  int electrodes = 0, features = 0, dimensions = 1;
  std::int64_t samples = 0, rows = 0, bins = 0;  // K, T, P
  std::vector<std::int64_t> encoding = {};       // n_e of the kept spikes
  std::vector<std::int64_t> decoding = {};       // m_e of the kept spikes
  // d = 1: lowest and highest coordinate of any place or trajectory position, including those at
  // the first and last edge.
  double extent[2] = {0, 0};
  std::vector<double> position_bandwidth = {};  // [d]

  std::int64_t encoding_total() const;  // N
  std::int64_t decoding_total() const;  // M
  std::int64_t pairs() const;           // sum of n_e m_e
  bool operator==(const Shape&) const = default;
};
Shape shape(const Input& input);

// A spike is kept where tau[0] <= t <= tau[K-1] or c[0] <= t <= c[T-1]. Indices ascend.
std::vector<std::int64_t> kept(const std::vector<double>& times, double first, double last);

// Row of a kept spike: the number of interior edges c[1 .. T-2] at or before t. Row T-1 gets none.
std::int64_t row_of(const std::vector<double>& edges, double t);

// All kept decoding spikes in the order (row, electrode, index).
struct Order {
  struct Spike {
    std::int32_t electrode = 0;
    std::int64_t index = 0;  // in its electrode's spikes
  };
  std::vector<Spike> spikes = {};            // [M]
  std::vector<std::int64_t> row_begin = {};  // [T + 1]: first spike of each row
  std::vector<std::int64_t> rows = {};       // [M]: rows, in the order (electrode, index)
};
Order order(const Input& input);
void order(const Input& input, Order& into);  // reuses its memory

std::int64_t dropped_spikes(const Input& input);  // in both phases

// lcw: to be added to ln S, because the marks' Gaussians are not normalised.
double log_mark_norm(const Input& input);

}  // namespace holdfast::clusterless_kde
