// SPDX-License-Identifier: Apache-2.0
#include "clusterless_kde/data/data.hpp"

#include <algorithm>

#include "clusterless_kde/data/maze.hpp"
#include "clusterless_kde/data/sizes.hpp"
#include "clusterless_kde/data/spikes.hpp"
#include "runtime/base/error.hpp"

namespace holdfast::clusterless_kde {
namespace {

constexpr double position_bandwidth = 3.5355339059327378;  // sqrt 12.5

std::vector<double> linspace(double first, double last, std::int64_t count) {
  std::vector<double> points(count);
  const double step = (last - first) / static_cast<double>(count - 1);
  for (std::int64_t k = 0; k < count; ++k) points[k] = first + static_cast<double>(k) * step;
  points.back() = last;
  return points;
}

int features_of(const Recipe& recipe) {
  if (recipe.features > 0) return recipe.features;
  return recipe.marks == Marks::profile ? 2 : 4;
}

int electrodes_of(const Recipe& recipe) {
  const bool forced = recipe.encoding_spikes > 0 || recipe.decoding_spikes > 0;
  return forced ? 1 : row_of(recipe.size).electrodes;
}

int bins_of(const Recipe& recipe) {
  return recipe.bins > 0 ? recipe.bins : row_of(recipe.size).bins;
}

void lay_track(Input& input, const SizeRow& size, const Recipe& recipe) {
  const int bins = bins_of(recipe);
  const std::int64_t samples = size.samples / recipe.scale, rows = size.rows / recipe.scale;
  input.encoding = {linspace(0, encoding_seconds, samples), linspace(0, size.length, samples)};
  input.edges = linspace(0, decoding_seconds, rows);
  input.decoding = {input.edges, linspace(0, size.length, rows)};
  for (int p = 0; p < bins; ++p) input.places.push_back((p + 0.5) * size.length / bins);
}

void lay_maze(Input& input, const SizeRow& size, const Recipe& recipe) {
  const auto run = [](const std::vector<double>& times) {
    std::vector<double> positions;
    positions.reserve(2 * times.size());
    for (const double t : times) {
      const auto [x, y] = maze::position(t);
      positions.push_back(x);
      positions.push_back(y);
    }
    return positions;
  };
  input.dimensions = 2;
  input.edges = linspace(0, maze::duration, size.rows / recipe.scale);
  input.encoding = {input.edges, run(input.edges)};
  input.decoding = input.encoding;
  input.places = maze::places();
}

void refuse_unless(bool good, std::string_view sentence) {
  if (!good) throw Error(Fault::bad_input, sentence);
}

}  // namespace

void validate(const Recipe& recipe) {
  const SizeRow& size = row_of(recipe.size);
  refuse_unless(recipe.scale >= 1, text("scale ", recipe.scale, ": give 1 or more"));
  refuse_unless(std::min(size.samples, size.rows) / recipe.scale >= 2,
                text("scale ", recipe.scale, " leaves fewer than 2 time edges; give at most ",
                     std::min(size.samples, size.rows) / 2));
  refuse_unless(recipe.features >= 0, text("feature count ", recipe.features, ": give 1 or more"));
  refuse_unless(recipe.bins >= 0, text("no place bins: ", recipe.bins, " asked for"));
  refuse_unless(recipe.bins == 0 || recipe.size != Size::hpc2d,
                text("the maze has 719 place bins of its own, ", recipe.bins, " asked for"));
  refuse_unless(recipe.encoding_spikes >= 0 && recipe.decoding_spikes >= 0,
                "a negative number of spikes asked for: give 1 or more, or 0 to draw it");
}

Input make_input(const Recipe& recipe) {
  validate(recipe);
  const SizeRow& size = row_of(recipe.size);
  Input input;
  input.features = features_of(recipe);
  recipe.size == Size::hpc2d ? lay_maze(input, size, recipe) : lay_track(input, size, recipe);
  for (int e = 0; e < electrodes_of(recipe); ++e) {
    const auto spikes = [&](Stream::Phase phase) {
      return SpikeSource(recipe, input.features, phase, e).make();
    };
    input.encoding_spikes.push_back(spikes(Stream::Phase::encode));
    input.decoding_spikes.push_back(spikes(Stream::Phase::decode));
  }
  input.position_bandwidth.assign(input.dimensions, position_bandwidth);
  input.feature_bandwidth.assign(input.features,
                                 recipe.marks == Marks::whiten ? 1 : feature_bandwidth);
  return input;
}

Shape shape(const Recipe& recipe) {
  validate(recipe);
  const SizeRow& size = row_of(recipe.size);
  const bool in_maze = recipe.size == Size::hpc2d;
  const int dimensions = in_maze ? 2 : 1;
  Shape result = {.electrodes = electrodes_of(recipe),
                  .features = features_of(recipe),
                  .dimensions = dimensions,
                  .samples = size.samples / recipe.scale,
                  .rows = size.rows / recipe.scale,
                  .bins = bins_of(recipe),
                  .extent = {0, size.length},
                  .position_bandwidth = std::vector<double>(dimensions, position_bandwidth)};
  for (int e = 0; e < result.electrodes; ++e) {
    const auto count = [&](Stream::Phase phase) {
      return SpikeSource(recipe, result.features, phase, e).count();
    };
    result.encoding.push_back(count(Stream::Phase::encode));
    result.decoding.push_back(count(Stream::Phase::decode));
  }
  return result;
}

}  // namespace holdfast::clusterless_kde
