// SPDX-License-Identifier: Apache-2.0
// The minimal work of each computation, and the memory that a published rule of thumb predicts.
#include <algorithm>
#include <cmath>

#include "clusterless_kde/clusterless_kde.hpp"

namespace holdfast::clusterless_kde {
namespace {

// The symbols of README.md.
struct Letters {
  Letters(const Shape& shape, const Options& options)
      : precision(precision_of(options.arithmetic)),
        two_hop(path(shape, precision) == Path::two_hop),
        on_track(shape.dimensions == 1),
        E(shape.electrodes),
        D(shape.features),
        d(shape.dimensions),
        K(static_cast<double>(shape.samples)),
        T(static_cast<double>(shape.rows)),
        P(static_cast<double>(shape.bins)),
        N(static_cast<double>(shape.encoding_total())),
        M(static_cast<double>(shape.decoding_total())),
        pairs(static_cast<double>(shape.pairs())),
        Q(on_track ? nodes(shape, precision).count : 0),
        near(on_track ? near_share(shape) : 1) {}

  // The fraction of nodes, or places, within six bandwidths of a spike: beyond that, a contribution
  // is below what rounding keeps of a likelihood that is not floored.
  double near_share(const Shape& shape) const {
    const Nodes by = nodes(shape, precision);
    const double length = two_hop ? (by.count - 1) * by.spacing : shape.extent[1] - shape.extent[0];
    return std::min(1., 12 * shape.position_bandwidth[0] / length);
  }

  Work work(double flops, double values, double phases, double specials) const {
    return {.flops = flops,
            .bytes = (precision == Precision::f32 ? 4 : 8) * values,
            .phases = phases,
            .specials = specials,
            .precision = precision};
  }

  Precision precision = Precision::f32;
  bool two_hop = false, on_track = false;
  double E = 0, D = 0, d = 0, K = 0, T = 0, P = 0, N = 0, M = 0, pairs = 0, Q = 0, near = 1;
};

// Number of places that reuse a mark's exponential before it is recomputed.
constexpr double places_per_mark = 128;

}  // namespace

// Densities at the places: directly, or on a track through sums at the nodes. In a plane a Gaussian
// is a product of two, and no grid of P places has fewer than 2 sqrt P coordinates.
Work encode_work(const Shape& shape, const Options& options) {
  const Letters n(shape, options);
  const double points = n.K + n.N;
  const double model = n.N * (n.D + n.d) + (n.two_hop ? n.N * n.Q + n.Q * n.P : 0) + 3 * n.P;
  const double values = (n.K + n.N) * n.d + model;
  if (!n.on_track) return n.work(2 * points * n.P, values, 1, points * 2 * std::sqrt(n.P));
  return n.work(std::min(points * n.P, points * n.Q + 2 * (n.E + 1) * n.Q * n.P), values,
                n.two_hop ? 2 : 1, std::min(points * n.P, (points + n.P) * n.Q));
}

// Marks times places or nodes; then for each spike its terms of a row's sum. Within a budget, rows
// always go to a consumer.
Work decode_work(const Shape& shape, const Options& options) {
  const Letters n(shape, options);
  const double columns = n.two_hop ? n.Q : n.P;
  const double products = n.two_hop ? (n.pairs + n.M * n.P) * n.Q : n.pairs * n.P;
  const double marks = n.pairs * (n.two_hop ? 1 : std::ceil(n.near * n.P / places_per_mark));
  const double read = n.N * (n.D + n.d) + n.M * (n.D + 2) + (n.two_hop ? n.N * n.Q : 0);
  const double written = options.consume || options.budget ? 2 * n.T : n.T * n.P;
  return n.work(n.near * 2 * products, read + 2 * n.M * columns + written, 2, marks + n.M * n.P);
}

Work total_work(const Shape& shape, const Options& options) {
  Work total = encode_work(shape, options);
  const Work decode = decode_work(shape, options);
  total.flops += decode.flops;
  total.bytes += decode.bytes;
  total.phases += decode.phases;
  total.specials += decode.specials;
  return total;
}

// One exponential per pair, and densities at the animal's positions: of samples at each spike, of
// samples and spikes at each edge. The model provides the sums at the nodes.
Work local_work(const Shape& shape, const Options& options) {
  const Letters n(shape, options);
  const double at = n.M + n.T, through_nodes = at * n.Q, direct = n.K * at + n.N * n.T;
  const bool nodes = n.on_track && through_nodes < direct;
  const double densities = nodes ? through_nodes : direct;
  const double seen = nodes ? 2 * n.Q : n.K * n.d;
  const double values = seen + n.T * n.d + n.N * (n.D + n.d) + n.M * (n.D + 2) + n.T;
  return n.work(n.pairs * (3 * (n.D + n.d) + 1) + densities, values, 1, n.pairs + n.M + densities);
}

// 4 (P + E (N P + N M + M P) + 2 N): totals over all electrodes, multiplied by the electrodes once
// more.
std::int64_t rule_of_thumb_bytes(const Shape& shape) {
  const std::int64_t n = shape.encoding_total(), m = shape.decoding_total(), p = shape.bins;
  return 4 * (p + shape.electrodes * (n * p + n * m + m * p) + 2 * n);
}

// 4 (n P + n b + m P): kernels of places, kernels of a block's marks, and joint densities.
std::int64_t electrode_bytes(const Shape& shape) {
  constexpr std::int64_t block = 100;
  std::int64_t most = 0;
  for (std::size_t e = 0; e < shape.encoding.size(); ++e) {
    const std::int64_t n = shape.encoding[e], m = shape.decoding[e], p = shape.bins;
    most = std::max(most, 4 * (n * p + n * block + m * p));
  }
  return most;
}

}  // namespace holdfast::clusterless_kde
