// SPDX-License-Identifier: Apache-2.0
// Generates the spikes of one electrode and phase.
#pragma once

#include <cstdint>
#include <vector>

#include "clusterless_kde/data/data.hpp"

namespace holdfast::clusterless_kde {

inline constexpr double feature_bandwidth = 24;  // for the marks of cells and of noise

class SpikeSource {
 public:
  // Keeps a reference to the recipe.
  SpikeSource(const Recipe& recipe, int features, Stream::Phase phase, int electrode);

  std::int64_t count() const;
  Spikes make() const;

 private:
  bool in_maze() const { return recipe_.size == Size::hpc2d; }
  Stream stream(Stream::Kind kind) const { return {recipe_.seed, kind, phase_, electrode_}; }
  double seconds() const;
  double firing_time(std::int64_t i, double place) const;
  Spikes noise() const;
  Spikes of_cells() const;
  Spikes sorted(const std::vector<double>& times, const std::vector<double>& features) const;

  const Recipe& recipe_;
  int features_ = 0;
  Stream::Phase phase_ = Stream::Phase::encode;
  int electrode_ = 0;
};

}  // namespace holdfast::clusterless_kde
