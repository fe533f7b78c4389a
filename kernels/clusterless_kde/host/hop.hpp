// SPDX-License-Identifier: Apache-2.0
// The sum over encoding spikes: S = A B for the decoding spikes of one electrode, with A the
// Gaussians of marks, B those of positions at the nodes (kept by the model) or at the bins
// (computed here).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "clusterless_kde/host/model.hpp"
#include "clusterless_kde/host/product.hpp"

namespace holdfast::clusterless_kde::HOLDFAST_ISA {

// A: Gaussians between the marks of some decoding spikes and those of some encoding spikes, all of
// one electrode. Used by one thread; `memory` is size() long.
template <class T>
class MarkKernels {
 public:
  MarkKernels(const Input& input, const HostSizes& sizes, Distance distance, const Model<T>& model,
              T* memory)
      : input_(input),
        tile_(sizes.encoding_tile),
        block_(sizes.block),
        expanded_(distance == Distance::expanded),
        model_(model),
        heard_(memory),
        values_(heard_ + rounded_up(block_ * sizes.features, panel_columns)) {}

  std::int64_t size() const { return values_ - heard_ + block_ * tile_; }
  const T* row(int r) const { return values_ + r * tile_; }  // for decoding spike r

  // Decoding spikes first .. first + count - 1 of electrode e.
  void hear(int e, std::int64_t first, int count) {
    electrode_ = &model_.electrodes[e];
    count_ = count;
    const double* features = input_.decoding_spikes[e].features.data() + first * input_.features;
    const double* center = model_.centers.data() + static_cast<std::int64_t>(e) * input_.features;
    for (int r = 0; r < count; ++r)
      for (int f = 0; f < input_.features; ++f)
        heard_[r * input_.features + f] =
            T((features[r * input_.features + f] - center[f]) * model_.feature_unit[f]);
  }

  // Computes A for encoding spikes i .. i + depth - 1; the rest of the last panel is undefined.
  void fill(std::int64_t i, int depth) {
    const T* marks = model_.marks.data() + electrode_->begin * input_.features + i;
    for (int r = 0; r < count_; ++r) {
      const T* heard = heard_ + r * input_.features;
      for (int k = 0; k < depth; k += panel_columns)
        expanded_ ? fill_expanded(marks + k, heard, values_ + r * tile_ + k)
                  : fill_differences(marks + k, heard, values_ + r * tile_ + k);
    }
  }

 private:
  static constexpr int lanes = Lanes<T>::count;

  // For panel_columns encoding spikes, four vectors at a time, so that their latencies overlap.
  template <class Exponent>
  static void fill_panel(T* to, Exponent exponent) {
    constexpr int together = 4;
    for (int k = 0; k < panel_columns; k += together * lanes) {
      Vector<T> sum[together] = {};
      exponent(k, sum);
#pragma GCC unroll 4
      for (int v = 0; v < together; ++v) store(to + k + v * lanes, exp2<T>(sum[v]));
    }
  }
  void fill_differences(const T* marks, const T* heard, T* to) const {
    fill_panel(to, [&](int k, Vector<T>(&sum)[4]) {
      for (int f = 0; f < input_.features; ++f)
#pragma GCC unroll 4
        for (int v = 0; v < 4; ++v) {
          const Vector<T> d = load(marks + f * electrode_->padded + k + v * lanes) - heard[f];
          sum[v] -= d * d;
        }
    });
  }
  void fill_expanded(const T* marks, const T* heard, T* to) const {
    T square = 0;
    for (int f = 0; f < input_.features; ++f) square += heard[f] * heard[f];
    fill_panel(to, [&](int k, Vector<T>(&sum)[4]) {
      for (int v = 0; v < 4; ++v) {
        Vector<T> squares = everywhere(square), product = {};
        for (int f = 0; f < input_.features; ++f) {
          const Vector<T> y = load(marks + f * electrode_->padded + k + v * lanes);
          squares += y * y;
          product += y * heard[f];
        }
        sum[v] = -at_least<T>(squares - T(2) * product, T(0));
      }
    });
  }

  const Input& input_;
  std::int64_t tile_, block_;
  bool expanded_;
  const Model<T>& model_;
  T* heard_;   // [block, D]
  T* values_;  // [block, encoding tile]
  const Electrode* electrode_ = nullptr;
  int count_ = 0;
};

// Pairs of an encoding spike and a tile of bins.
struct Tally {
  std::int64_t all = 0, visited = 0;
};

// Sums S or W of a chunk's spikes in the order of rows; earlier spikes are not stored.
template <class T>
struct Sums {
  T* memory = nullptr;  // [spikes, scratch width]
  std::int64_t first_spike = 0;

  T* of(std::int64_t spike, std::int64_t width) const {
    return memory + (spike - first_spike) * width;
  }
};

// Used by one thread; `memory` is sizes.tiles() long.
template <class T>
class Hop {
 public:
  Hop(const Input& input, const HostSizes& sizes, const Options& options, const Model<T>& model,
      T* memory)
      : input_(input),
        sizes_(sizes),
        cut_(options.cut && !sizes.two_hop),
        partial_(cut_ || sizes.two_hop),
        model_(model),
        marks_(input, sizes, options.distance, model, memory),
        values_(memory + marks_.size()) {}

  // Computes the sums of decoding spikes first .. first + count - 1 of electrode e; those of spike
  // r become those of spike `position[r]` of `sums`.
  void operator()(int e, std::int64_t first, std::int64_t count, const std::int32_t* position,
                  const Sums<T>& sums) {
    electrode_ = &model_.electrodes[e];
    count_ = static_cast<int>(count);
    position_ = position;
    sums_ = sums;
    marks_.hear(e, first, count_);
    if (partial_ || electrode_->count == 0)
      for (int r = 0; r < count_; ++r) std::fill_n(row(r), sizes_.scratch_width(), T(0));
    for (std::int64_t i = 0; i < electrode_->count; i += sizes_.encoding_tile)
      add_tile(i, static_cast<int>(std::min(sizes_.encoding_tile, electrode_->count - i)));
  }
  Tally tally() const { return tally_; }

 private:
  static constexpr int lanes = Lanes<T>::count;

  T* row(int r) const { return sums_.of(position_[r], sizes_.scratch_width()); }

  // Encoding spikes i .. i + depth - 1.
  void add_tile(std::int64_t i, int depth) {
    if (sizes_.two_hop) {
      marks_.fill(i, depth);
      const Band band = model_.band_of(electrode_->begin + i, depth);
      const T* psi = model_.psi.data() + (electrode_->psi_begin + i) * sizes_.nodes + band.begin;
      add_product(true, 0, depth, psi, sizes_.nodes, band.begin, band.end - band.begin);
      return;
    }
    const T* positions = model_.positions.data() + electrode_->begin * input_.dimensions + i;
    bool filled = false;
    for (std::int64_t p = 0; p < sizes_.pitch; p += sizes_.position_tile) {
      const std::int64_t columns = std::min(sizes_.position_tile, sizes_.pitch - p);
      const Band near = cut_ ? near_spikes(positions, depth, p, columns) : Band{0, depth};
      const int count = near.end - near.begin;
      tally_.all += depth;
      tally_.visited += count;
      if (count == 0) continue;
      if (!filled) marks_.fill(i, depth);
      filled = true;
      fill_values(positions + near.begin, count, p, columns);
      add_product(partial_ || i > 0, near.begin, count, values_, columns, p, columns);
    }
  }

  // B: [depth, columns], times exp(beta): values far below the floor become 0, none overflows.
  void fill_values(const T* positions, int depth, std::int64_t p, std::int64_t columns) {
    const T *bins = model_.bin_coordinates.data() + p, *shift = model_.shift.data() + p;
    for (int k = 0; k < depth; ++k) {
      T* to = values_ + k * columns;
      const T x = positions[k];
      if (input_.dimensions == 1) {
        for (int c = 0; c < columns; c += lanes) {
          const Vector<T> dx = load(bins + c) - x;
          store(to + c, exp2<T>(load(shift + c) - dx * dx));
        }
        continue;
      }
      const T y = positions[electrode_->padded + k];
      for (int c = 0; c < columns; c += lanes) {
        const Vector<T> dx = load(bins + c) - x, dy = load(bins + sizes_.pitch + c) - y;
        store(to + c, exp2<T>(load(shift + c) - dx * dx - dy * dy));
      }
    }
  }

  // Adds the spikes begin .. begin + depth - 1 of an encoding tile; `values` is the row of the
  // first.
  void add_product(bool add, int begin, int depth, const T* values, std::int64_t pitch,
                   std::int64_t first, std::int64_t columns) {
    for (int r = 0; r < count_; r += product_rows) {
      const int rows = std::min(product_rows, count_ - r);
      T* c[product_rows];
      for (int k = 0; k < rows; ++k) c[k] = row(r + k) + first;
      multiply<T>({.depth = depth,
                   .a = marks_.row(r) + begin,
                   .a_pitch = sizes_.encoding_tile,
                   .b = values,
                   .b_pitch = pitch,
                   .add = add},
                  rows, static_cast<int>(columns), c);
    }
  }

  // The spikes of an encoding tile, sorted by position, that may lie within the cut's radius of one
  // of these bins.
  Band near_spikes(const T* positions, int depth, std::int64_t p, std::int64_t columns) const {
    const std::int64_t real = std::min(columns, sizes_.bins - p);
    if (real <= 0) return {};
    double low[2] = {}, high[2] = {};
    for (int j = 0; j < input_.dimensions; ++j) {
      const T* bins = model_.bin_coordinates.data() + j * sizes_.pitch + p;
      const auto [least, most] = std::minmax_element(bins, bins + real);
      low[j] = *least;
      high[j] = *most;
    }
    const double radius_squared = model_.cut_radius_squared(electrode_->count);
    const auto far = [&](int k) {
      double squared = 0;
      for (int j = 0; j < input_.dimensions; ++j) {
        const double x = positions[j * electrode_->padded + k];
        const double gap = std::max({0., low[j] - x, x - high[j]});
        squared += gap * gap;
      }
      return squared > radius_squared;
    };
    Band near = {0, depth};
    while (near.begin < depth && far(near.begin)) ++near.begin;
    while (near.end > near.begin && far(near.end - 1)) --near.end;
    return near;
  }

  const Input& input_;
  const HostSizes& sizes_;
  bool cut_;
  bool partial_;  // whether an encoding tile may leave out columns of a sum
  const Model<T>& model_;
  MarkKernels<T> marks_;  // A
  T* values_;             // B [encoding tile, position tile], dense
  const Electrode* electrode_ = nullptr;
  int count_ = 0;
  const std::int32_t* position_ = nullptr;
  Sums<T> sums_ = {};
  Tally tally_ = {};
};

}  // namespace holdfast::clusterless_kde::HOLDFAST_ISA
