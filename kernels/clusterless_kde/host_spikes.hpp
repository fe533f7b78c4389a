// SPDX-License-Identifier: Apache-2.0
// Encoding spikes as the model keeps them: where the animal was, in which order, marks in units.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include "clusterless_kde/follower.hpp"
#include "clusterless_kde/host_model.hpp"

namespace holdfast::clusterless_kde::HOLDFAST_ISA {

template <class T>
class SpikePlacer {
 public:
  SpikePlacer(const Input& input, const HostSizes& sizes, const Options& options, Model<T>& model)
      : input_(input),
        centered_(options.distance == Distance::difference),
        model_(model),
        order_(sizes.padded_encoding),
        sorted_(options.cut && !sizes.two_hop ? sizes.padded_encoding : 0) {}

  // Electrodes may be placed by several threads.
  void operator()(int e) {
    const Electrode& electrode = model_.electrodes[e];
    keep(e);
    if (!sorted_.empty()) sort(electrode);
    scale_marks(e);
    if (model_.positions.size() == 0) return;
    const double* at = model_.kept_positions.data() + electrode.begin * input_.dimensions;
    T* positions = model_.positions.data() + electrode.begin * input_.dimensions;
    for (int j = 0; j < input_.dimensions; ++j)
      for (std::int64_t i = 0; i < electrode.count; ++i)
        positions[j * electrode.padded + i] =
            model_.scaled_position(at[i * input_.dimensions + j], j);
  }

 private:
  struct Spike {
    double strip = 0, along = 0;
    double at[2] = {};
    std::int32_t index = 0;
  };

  // Positions and indices of the spikes that lie within the trajectory's time.
  void keep(int e) {
    double* at = model_.kept_positions.data() + model_.electrodes[e].begin * input_.dimensions;
    std::int32_t* order = order_.data() + model_.electrodes[e].begin;
    const std::vector<double>& times = input_.encoding_spikes[e].times;
    const double first = input_.encoding.times.front(), last = input_.encoding.times.back();
    Follower animal(input_.encoding, input_.dimensions);
    std::int64_t count = 0;
    for (std::size_t i = 0; i < times.size(); ++i) {
      if (times[i] < first || times[i] > last) continue;
      animal.go_to(times[i]);
      for (int j = 0; j < input_.dimensions; ++j) at[count * input_.dimensions + j] = animal.at(j);
      order[count++] = static_cast<std::int32_t>(i);
    }
  }

  // Along the track; in a plane by strips four units wide.
  void sort(const Electrode& electrode) {
    const int d = input_.dimensions;
    double* at = model_.kept_positions.data() + electrode.begin * d;
    std::int32_t* order = order_.data() + electrode.begin;
    const std::span spikes(sorted_.data() + electrode.begin, electrode.count);
    for (std::int64_t i = 0; i < electrode.count; ++i) {
      Spike& spike = spikes[i];
      for (int j = 0; j < d; ++j) spike.at[j] = at[i * d + j];
      spike.strip = d == 1 ? 0 : std::floor(spike.at[0] * model_.position_unit[0] / 4);
      spike.along = spike.at[d - 1];
      spike.index = order[i];
    }
    std::ranges::sort(spikes, {}, [](const Spike& spike) {
      return std::tuple(spike.strip, spike.along, spike.index);
    });
    for (std::int64_t i = 0; i < electrode.count; ++i) {
      for (int j = 0; j < d; ++j) at[i * d + j] = spikes[i].at[j];
      order[i] = spikes[i].index;
    }
  }

  // Relative to one of the spikes, so that rounding is relative to differences, not to offsets. Not
  // so where distances are expanded: that form is there to show what it costs.
  void scale_marks(int e) {
    const Electrode& electrode = model_.electrodes[e];
    const std::int32_t* order = order_.data() + electrode.begin;
    const double* features = input_.encoding_spikes[e].features.data();
    double* center = model_.centers.data() + static_cast<std::int64_t>(e) * input_.features;
    T* marks = model_.marks.data() + electrode.begin * input_.features;
    for (int f = 0; f < input_.features; ++f) {
      center[f] = centered_ && electrode.count > 0 ? features[order[0] * input_.features + f] : 0;
      for (std::int64_t i = 0; i < electrode.count; ++i)
        marks[f * electrode.padded + i] =
            T((features[static_cast<std::int64_t>(order[i]) * input_.features + f] - center[f]) *
              model_.feature_unit[f]);
    }
  }

  const Input& input_;
  bool centered_;
  Model<T>& model_;
  std::vector<std::int32_t> order_;  // [padded encoding spikes]: indices in their electrode's
  std::vector<Spike> sorted_;        // of a cut
};

}  // namespace holdfast::clusterless_kde::HOLDFAST_ISA
