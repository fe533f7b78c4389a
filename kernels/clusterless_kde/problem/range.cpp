// SPDX-License-Identifier: Apache-2.0
#include "clusterless_kde/problem/range.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "clusterless_kde/problem/follower.hpp"
#include "clusterless_kde/problem/formulas.hpp"
#include "clusterless_kde/problem/preparation.hpp"

namespace holdfast::clusterless_kde {
namespace {

using Place = std::array<double, 2>;  // in bandwidths; on a track the second coordinate is 0

constexpr double least_logarithm = -745.2;  // of a positive double

double squared_distance(const Place& a, const Place& b) {
  const double x = a[0] - b[0], y = a[1] - b[1];
  return x * x + y * y;
}

Place at(const std::vector<double>& positions, std::size_t i, const Input& input) {
  const auto d = static_cast<std::size_t>(input.dimensions);
  return {positions[i * d] / input.position_bandwidth[0],
          d > 1 ? positions[i * d + 1] / input.position_bandwidth[1] : 0};
}

// The points within half a diagonal of `center`.
struct Cell {
  Place center = {};
  double count = 0;
};
constexpr double cell_width = 0.15;

double half_diagonal(const Input& input) {
  return cell_width * (input.dimensions > 1 ? M_SQRT1_2 : 0.5);
}

std::vector<Cell> cells_of(const std::vector<double>& positions, const Input& input) {
  using Key = std::array<std::int64_t, 2>;
  struct Run {
    Key key;
    double count;
  };
  // The animal stays in a cell for many samples: runs first, then equal cells.
  std::vector<Run> runs;
  for (std::size_t k = 0; k < positions.size() / input.dimensions; ++k) {
    const Place place = at(positions, k, input);
    const Key key = {std::llround(place[0] / cell_width), std::llround(place[1] / cell_width)};
    if (runs.empty() || runs.back().key != key) runs.push_back({key, 0});
    ++runs.back().count;
  }
  std::ranges::sort(runs, {}, &Run::key);
  std::vector<Cell> cells;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const auto& [key, count] = runs[i];
    if (i == 0 || key != runs[i - 1].key)
      cells.push_back(
          {{static_cast<double>(key[0]) * cell_width, static_cast<double>(key[1]) * cell_width}});
    cells.back().count += count;
  }
  return cells;
}

// Bounds of ln O, for all places within `reach` of one.
class Occupancy {
 public:
  explicit Occupancy(const Input& input, double reach = 0)
      : cells_(cells_of(input.encoding.positions, input)),
        slack_(half_diagonal(input) + reach),
        samples_(static_cast<double>(input.encoding.times.size())) {}

  double lower(const Place& place) const {
    const double highest = -std::pow(nearest(place) + slack_, 2) / 2;
    double sum = 0;
    for (const Cell& cell : cells_) {
      const double farthest = std::sqrt(squared_distance(cell.center, place)) + slack_;
      const double exponent = -farthest * farthest / 2;
      if (exponent > highest - 30) sum += cell.count * std::exp(exponent - highest);
    }
    return highest + std::log(sum);
  }
  double upper(const Place& place) const {
    const double distance = std::max(nearest(place) - slack_, 0.);
    return -distance * distance / 2 + std::log(samples_);
  }

 private:
  double nearest(const Place& place) const {
    double least = std::numeric_limits<double>::infinity();
    for (const Cell& cell : cells_) least = std::min(least, squared_distance(cell.center, place));
    return std::sqrt(least);
  }

  std::vector<Cell> cells_;
  double slack_, samples_;
};

// ln O at a place, or if that reaches `enough` any value from `enough` up to it.
double log_occupancy(const Input& input, const Place& place, double enough) {
  double sum = 0;
  for (std::size_t k = 0; k < input.encoding.times.size() && !(std::log(sum) >= enough); ++k)
    sum += std::exp(-squared_distance(at(input.encoding.positions, k, input), place) / 2);
  return std::log(sum);
}

// The part of ln rate_floor - beta that does not depend on the place: add ln O.
double offset(const Input& input) {
  return log_rate_floor - log_mark_norm(input);
}

}  // namespace

double lowest_floor(const Input& input) {
  const Occupancy occupancy(input);
  double lowest = std::numeric_limits<double>::infinity();
  for (std::int64_t p = 0; p < input.bins(); ++p) {
    const Place place = at(input.places, static_cast<std::size_t>(p), input);
    if (occupancy.upper(place) >= least_logarithm)
      lowest = std::min(lowest, occupancy.lower(place));
  }
  return lowest + offset(input);
}

bool exceeds_single(const Input& input) {
  const double enough = lowest_single - offset(input);  // ln O that suffices
  const Occupancy occupancy(input);
  for (std::int64_t p = 0; p < input.bins(); ++p) {
    const Place place = at(input.places, static_cast<std::size_t>(p), input);
    if (occupancy.lower(place) >= enough) continue;
    const double exact = log_occupancy(input, place, enough);
    if (exact < enough && std::isfinite(exact)) return true;
  }
  return false;
}

bool path_exceeds_single(const Input& input) {
  Follower follower(input.decoding, input.dimensions);
  std::vector<double> path;
  const auto go_to = [&](double t) {
    follower.go_to(t);
    for (int j = 0; j < input.dimensions; ++j) path.push_back(follower.at(j));
  };
  for (const double t : input.edges) go_to(t);
  for (const Spikes& spikes : input.decoding_spikes)
    for (const double t : spikes.times)
      if (input.edges.front() <= t && t <= input.edges.back()) go_to(t);

  const double enough = lowest_single - offset(input);
  const Occupancy occupancy(input, half_diagonal(input));
  return std::ranges::any_of(cells_of(path, input), [&](const Cell& cell) {
    return occupancy.lower(cell.center) < enough && occupancy.upper(cell.center) >= least_logarithm;
  });
}

}  // namespace holdfast::clusterless_kde
