// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <vector>

#include "clusterless_kde/data/data.hpp"

namespace holdfast::clusterless_kde {
namespace {

// The (turn, electrode) order of the kept spikes.
std::vector<Order::Spike> in_turn(const Input& input, std::int64_t most) {
  std::vector<std::vector<std::int64_t>> of_electrodes;
  std::size_t turns = 0;
  for (const Spikes& spikes : input.decoding_spikes) {
    of_electrodes.push_back(kept(spikes.times, input.edges.front(), input.edges.back()));
    turns = std::max(turns, of_electrodes.back().size());
  }
  std::vector<Order::Spike> spikes;
  for (std::size_t turn = 0; turn < turns; ++turn)
    for (std::int32_t e = 0; e < input.electrodes(); ++e)
      if (turn < of_electrodes[e].size() && static_cast<std::int64_t>(spikes.size()) < most)
        spikes.push_back({.electrode = e, .index = of_electrodes[e][turn]});
  return spikes;
}

}  // namespace

Input one_spike_per_row(const Input& input, std::int64_t most) {
  Input result = input;
  result.decoding = {};
  result.decoding_spikes.assign(input.decoding_spikes.size(), {});
  const auto be_at = [&](double time, double was) {
    std::vector<double> x(input.dimensions);
    interpolate(input.decoding, input.dimensions, was, x);
    result.decoding.times.push_back(time);
    result.decoding.positions.insert(result.decoding.positions.end(), x.begin(), x.end());
  };

  const std::vector<Order::Spike> spikes = in_turn(input, most);
  const auto time_of = [&](const Order::Spike& spike) {
    return input.decoding_spikes[spike.electrode].times[spike.index];
  };
  be_at(0, spikes.empty() ? input.edges.front() : time_of(spikes.front()));
  result.edges = {0};
  for (const Order::Spike& spike : spikes) {
    const double row = result.edges.back();
    be_at(row + 0.5, time_of(spike));
    const auto feature =
        input.decoding_spikes[spike.electrode].features.begin() + spike.index * input.features;
    Spikes& into = result.decoding_spikes[spike.electrode];
    into.times.push_back(row + 0.5);
    into.features.insert(into.features.end(), feature, feature + input.features);
    result.edges.push_back(row + 1);
  }
  if (spikes.empty()) result.edges.push_back(1);
  be_at(result.edges.back(), spikes.empty() ? input.edges.back() : time_of(spikes.back()));
  return result;
}

}  // namespace holdfast::clusterless_kde
