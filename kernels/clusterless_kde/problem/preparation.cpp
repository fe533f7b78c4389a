// SPDX-License-Identifier: Apache-2.0
#include "clusterless_kde/problem/preparation.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "clusterless_kde/problem/formulas.hpp"

namespace holdfast::clusterless_kde {
namespace {

std::int64_t count_between(const std::vector<double>& times, double first, double last) {
  return std::count_if(times.begin(), times.end(),
                       [=](double t) { return first <= t && t <= last; });
}

// A range of ascending times: indices [begin, end).
struct Range {
  std::int64_t begin = 0, end = 0;
};
Range range_between(const std::vector<double>& times, double first, double last) {
  const auto begin = std::lower_bound(times.begin(), times.end(), first);
  return {.begin = begin - times.begin(),
          .end = std::upper_bound(begin, times.end(), last) - times.begin()};
}

// Finds rows of times: guesses the edge as if all were equally spaced, then gallops from there.
class RowSearch {
 public:
  explicit RowSearch(const std::vector<double>& edges)
      : edges_(edges),
        last_(static_cast<std::int64_t>(edges.size()) - 2),
        rows_per_second_(static_cast<double>(last_ + 1) / (edges.back() - edges.front())) {}

  std::int64_t row(double t) const {
    const auto guess = static_cast<std::int64_t>((t - edges_.front()) * rows_per_second_);
    std::int64_t low = std::min(guess, last_), step = 1;
    for (; low > 0 && edges_[low] > t; step *= 2) low = std::max(low - step, std::int64_t{0});
    for (step = 1; low + step <= last_ && edges_[low + step] <= t; step *= 2) low += step;
    const auto begin = edges_.begin();
    return std::upper_bound(begin + low + 1, begin + std::min(low + step, last_ + 1), t) - begin -
           1;
  }

 private:
  const std::vector<double>& edges_;
  std::int64_t last_ = 0;  // row that can receive spikes
  double rows_per_second_ = 0;
};

void widen(double (&extent)[2], double x) {
  extent[0] = std::min(extent[0], x);
  extent[1] = std::max(extent[1], x);
}

}  // namespace

std::int64_t Shape::encoding_total() const {
  return std::accumulate(encoding.begin(), encoding.end(), std::int64_t{0});
}
std::int64_t Shape::decoding_total() const {
  return std::accumulate(decoding.begin(), decoding.end(), std::int64_t{0});
}
std::int64_t Shape::pairs() const {
  return std::inner_product(encoding.begin(), encoding.end(), decoding.begin(), std::int64_t{0});
}

Shape shape(const Input& input) {
  Shape result = {.electrodes = input.electrodes(),
                  .features = input.features,
                  .dimensions = input.dimensions,
                  .samples = input.samples(),
                  .rows = input.rows(),
                  .bins = input.bins(),
                  .position_bandwidth = input.position_bandwidth};
  const std::vector<double>& tau = input.encoding.times;
  for (const Spikes& spikes : input.encoding_spikes)
    result.encoding.push_back(count_between(spikes.times, tau.front(), tau.back()));
  for (const Spikes& spikes : input.decoding_spikes)
    result.decoding.push_back(count_between(spikes.times, input.edges.front(), input.edges.back()));
  if (input.dimensions != 1) return result;
  result.extent[0] = result.extent[1] = input.places.front();
  for (const auto* points : {&input.places, &input.encoding.positions, &input.decoding.positions})
    for (const double x : *points) widen(result.extent, x);
  for (const double edge : {input.edges.front(), input.edges.back()}) {
    if (input.decoding.times.front() <= edge && edge <= input.decoding.times.back()) continue;
    double x = 0;
    interpolate(input.decoding, 1, edge, {&x, 1});
    widen(result.extent, x);
  }
  return result;
}

std::vector<std::int64_t> kept(const std::vector<double>& times, double first, double last) {
  std::vector<std::int64_t> indices;
  indices.reserve(times.size());
  for (std::size_t k = 0; k < times.size(); ++k)
    if (first <= times[k] && times[k] <= last) indices.push_back(static_cast<std::int64_t>(k));
  return indices;
}

std::int64_t row_of(const std::vector<double>& edges, double t) {
  const auto interior = edges.begin() + 1;
  return std::upper_bound(interior, edges.end() - 1, t) - interior;
}

Order order(const Input& input) {
  Order result;
  order(input, result);
  return result;
}

void order(const Input& input, Order& into) {
  const std::vector<double>& edges = input.edges;
  const auto range = [&](const Spikes& spikes) {
    return range_between(spikes.times, edges.front(), edges.back());
  };
  // row_begin[r + 2] first counts the spikes of row r; after the prefix sum row_begin[r + 1] is the
  // place of row r's next spike, and when all are placed, row r's end.
  into.row_begin.assign(edges.size() + 2, 0);
  into.rows.clear();
  const RowSearch search(edges);
  for (const Spikes& spikes : input.decoding_spikes) {
    const auto [begin, end] = range(spikes);
    for (std::int64_t i = begin; i < end; ++i) {
      into.rows.push_back(search.row(spikes.times[i]));
      ++into.row_begin[into.rows.back() + 2];
    }
  }
  std::partial_sum(into.row_begin.begin(), into.row_begin.end(), into.row_begin.begin());
  into.spikes.resize(into.rows.size());
  auto row = into.rows.begin();
  for (std::int32_t e = 0; e < input.electrodes(); ++e) {
    const auto [begin, end] = range(input.decoding_spikes[e]);
    for (std::int64_t i = begin; i < end; ++i)
      into.spikes[into.row_begin[*row++ + 1]++] = {.electrode = e, .index = i};
  }
  into.row_begin.pop_back();
}

std::int64_t dropped_spikes(const Input& input) {
  const Shape numbers = shape(input);
  std::int64_t all = 0;
  for (const Spikes& spikes : input.encoding_spikes)
    all += static_cast<std::int64_t>(spikes.times.size());
  for (const Spikes& spikes : input.decoding_spikes)
    all += static_cast<std::int64_t>(spikes.times.size());
  return all - numbers.encoding_total() - numbers.decoding_total();
}

double log_mark_norm(const Input& input) {
  double norm = -input.features / 2. * log_two_pi;
  for (const double s : input.feature_bandwidth) norm -= std::log(s);
  return norm;
}

}  // namespace holdfast::clusterless_kde
