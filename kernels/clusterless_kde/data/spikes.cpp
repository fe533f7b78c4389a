// SPDX-License-Identifier: Apache-2.0
#include "clusterless_kde/data/spikes.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "clusterless_kde/data/maze.hpp"
#include "clusterless_kde/data/sizes.hpp"
#include "runtime/device_code/random.hpp"

namespace holdfast::clusterless_kde {
namespace {

using Kind = Stream::Kind;
using Phase = Stream::Phase;

constexpr int cells = 6;  // per electrode

}  // namespace

Stream::Stream(std::uint64_t seed, std::uint64_t number)
    : key(mix64(seed + golden_gamma * (number + 1))) {}

Stream::Stream(std::uint64_t seed, Kind kind, Phase phase, int electrode)
    : Stream(seed, static_cast<std::uint64_t>(kind) + 8 * static_cast<std::uint64_t>(phase) +
                       16 * static_cast<std::uint64_t>(electrode)) {}

double Stream::uniform(std::uint64_t i) const {
  return static_cast<double>(mix64(key + golden_gamma * (i + 1)) >> 11) * 0x1p-53;
}

double Stream::normal(std::uint64_t i) const {
  double sum = 0;
  for (std::uint64_t k = 0; k < 12; ++k) sum += uniform(12 * i + k);
  return sum - 6;
}

SpikeSource::SpikeSource(const Recipe& recipe, int features, Phase phase, int electrode)
    : recipe_(recipe), features_(features), phase_(phase), electrode_(electrode) {}

Spikes SpikeSource::make() const {
  return recipe_.marks == Marks::profile ? noise() : of_cells();
}

double SpikeSource::seconds() const {
  if (in_maze()) return maze::duration;
  return phase_ == Phase::encode ? encoding_seconds : decoding_seconds;
}

std::int64_t SpikeSource::count() const {
  const bool encode = phase_ == Phase::encode;
  const int wanted = encode ? recipe_.encoding_spikes : recipe_.decoding_spikes;
  if (wanted > 0) return wanted;
  if (encode && recipe_.sparse && electrode_ % 4 < 2) return electrode_ % 4;
  const SizeRow& size = row_of(recipe_.size);
  const double rate = (encode ? size.encoding_rate : size.decoding_rate) / recipe_.scale;
  const double drawn = std::floor(rate + std::sqrt(rate) * stream(Kind::count).normal(0) + 0.5);
  return std::max(std::int64_t{1}, static_cast<std::int64_t>(drawn));
}

Spikes SpikeSource::noise() const {
  const std::int64_t n = count();
  const Stream time = stream(Kind::time), feature = stream(Kind::feature);
  Spikes spikes = {std::vector<double>(n), std::vector<double>(n * features_)};
  for (std::int64_t i = 0; i < n; ++i) spikes.times[i] = time.uniform(i) * seconds();
  std::sort(spikes.times.begin(), spikes.times.end());
  for (std::int64_t k = 0; k < n * features_; ++k) spikes.features[k] = feature.normal(k);
  return spikes;
}

// A time when the animal is near the cell's place: on a track, when it is there; in the maze, in
// one of its laps.
double SpikeSource::firing_time(std::int64_t i, double place) const {
  const double scatter = stream(Kind::position).normal(i);
  if (in_maze()) {
    const double round = std::min(26., std::floor(27 * stream(Kind::time).uniform(i)));
    return std::clamp(maze::period * round + maze::period * place + 0.6 * scatter, 0.,
                      maze::duration);
  }
  const double length = row_of(recipe_.size).length;
  return std::clamp(length * place + 6 * scatter, 0., length) / length * seconds();
}

Spikes SpikeSource::of_cells() const {
  const std::int64_t n = count();
  const Stream cell(recipe_.seed, Kind::cell, Phase::encode, electrode_);
  const Stream pick = stream(Kind::pick), feature = stream(Kind::feature);
  const double unit = recipe_.marks == Marks::whiten ? feature_bandwidth : 1;
  std::vector<double> times(n), features(n * features_);
  for (std::int64_t i = 0; i < n; ++i) {
    const int a = std::min(cells - 1, static_cast<int>(std::floor(cells * pick.uniform(i))));
    const std::uint64_t first = a * (features_ + 1);  // the cell's numbers: place, then mark
    times[i] = firing_time(i, cell.uniform(first));
    for (int f = 0; f < features_; ++f) {
      const double mark = 60 + 240 * cell.uniform(first + 1 + f);
      features[i * features_ + f] = (mark + 18 * feature.normal(i * features_ + f)) / unit;
    }
  }
  return sorted(times, features);
}

Spikes SpikeSource::sorted(const std::vector<double>& times,
                           const std::vector<double>& features) const {
  std::vector<std::int64_t> by_time(times.size());
  std::iota(by_time.begin(), by_time.end(), std::int64_t{0});
  std::stable_sort(by_time.begin(), by_time.end(),
                   [&](std::int64_t a, std::int64_t b) { return times[a] < times[b]; });
  Spikes spikes;
  spikes.times.reserve(times.size());
  spikes.features.reserve(features.size());
  for (const std::int64_t i : by_time) {
    const auto feature = features.begin() + i * features_;
    spikes.times.push_back(times[i]);
    spikes.features.insert(spikes.features.end(), feature, feature + features_);
  }
  return spikes;
}

}  // namespace holdfast::clusterless_kde
