// SPDX-License-Identifier: Apache-2.0
// A: Gaussians between the marks of some decoding spikes and those of some encoding spikes, all of
// one electrode.
#pragma once

#include <cstdint>

#include "clusterless_kde/host_model.hpp"

namespace holdfast::clusterless_kde::HOLDFAST_ISA {

// One thread's; `memory` is size() long.
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
  const T* row(int r) const { return values_ + r * tile_; }  // of decoding spike r

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

  // Encoding spikes i .. i + depth - 1 of it, and rubbish up to a whole panel.
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

  // Of panel_columns encoding spikes, four vectors at a time, so that sums overlap.
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

}  // namespace holdfast::clusterless_kde::HOLDFAST_ISA
