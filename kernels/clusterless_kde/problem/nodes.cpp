// SPDX-License-Identifier: Apache-2.0
#include "clusterless_kde/problem/nodes.hpp"

#include <algorithm>
#include <cmath>

#include "clusterless_kde/problem/formulas.hpp"

namespace holdfast::clusterless_kde {
namespace {

// In units of sigma. The sum's relative error is at most 2 exp(-pi^2 sigma^2 / (2 h^2)); the nodes
// extend beyond the ends until the narrow Gaussians have decayed.
struct Rule {
  double spacing = 0, margin = 0;
};
constexpr Rule rule(Precision precision) {
  return precision == Precision::f32 ? Rule{0.58, 2.75} : Rule{0.42, 3.5};
}

constexpr int step = 16;  // of Q: a tile of a matrix product
// For bandwidths far below a bin's width: such nodes are never chosen, but their number must be
// representable.
constexpr double most = 1 << 30;

}  // namespace

Nodes nodes(const Shape& shape, Precision precision) {
  const auto [widest, margin] = rule(precision);
  const double sigma = shape.position_bandwidth[0];
  const double first = shape.extent[0] - margin * sigma;
  const double span = shape.extent[1] + margin * sigma - first;
  const double needed = std::min(span / (widest * sigma) + 1, most);
  const int count = step * static_cast<int>(std::ceil(needed / step));
  const double spacing = span / (count - 1);
  return {.count = count,
          .first = first,
          .spacing = spacing,
          .weight = spacing / (sigma / 2 * sqrt_two_pi)};
}

Path path(const Shape& shape, Precision precision) {
  if (shape.dimensions != 1) return Path::dense;
  const double q = nodes(shape, precision).count, p = static_cast<double>(shape.bins);
  const double pairs = static_cast<double>(shape.pairs());
  const double two_hop = pairs * q + static_cast<double>(shape.decoding_total()) * q * p;
  return two_hop < pairs * p ? Path::two_hop : Path::dense;
}

}  // namespace holdfast::clusterless_kde
