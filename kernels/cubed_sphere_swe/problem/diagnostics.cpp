// SPDX-License-Identifier: Apache-2.0
#include "cubed_sphere_swe/problem/diagnostics.hpp"

#include <algorithm>
#include <cmath>

#include "cubed_sphere_swe/problem/component_inputs.hpp"
#include "cubed_sphere_swe/problem/operators.hpp"
#include "cubed_sphere_swe/problem/sphere.hpp"

namespace holdfast::cubed_sphere_swe {
namespace {

// Integral of value(k, index in panel) over all vertices.
template <class Function>
double integral(int n, Function value) {
  const MetricTables tables = metric_tables(n, MetricSign::correct);
  const std::vector<double> weight = vertex_weights(n);
  Sum total;
  std::size_t k = 0;
  for (int panel = 0; panel < panels; ++panel)
    for (int i = 0; i <= n; ++i)
      for (int j = 0; j <= n; ++j, ++k)
        total.add(value(k) * tables.j[static_cast<std::size_t>(i) * (n + 1) + j] * weight[i] *
                  weight[j]);
  return total.value();
}

}  // namespace

void Sum::add(double value) {
  const double next = sum_ + value;
  correction_ += std::abs(sum_) >= std::abs(value) ? (sum_ - next) + value : (value - next) + sum_;
  sum_ = next;
}

double mass(Size size, std::span<const double> h) {
  return integral(size.n, [h](std::size_t k) { return h[k]; });
}

double relative_drift(double mass, double start) {
  const double drift = std::abs(mass - start);
  return start == 0 ? drift : drift / std::abs(start);
}

double area(Size size) {
  return integral(size.n, [](std::size_t) { return 1.; });
}

double energy(Size size, const State& state, MetricSign q12) {
  const int n = size.n;
  const std::vector<double> hv = vertex_weights(n), hc = center_weights(n);
  const double potential =
      integral(n, [&](std::size_t k) { return gravity / 2 * state.h[k] * state.h[k]; });
  const ComponentInputs fluxes = component_inputs(n, q12, state);
  Sum kinetic;
  std::size_t k = 0;
  for (int panel = 0; panel < panels; ++panel)
    for (int i = 0; i < n; ++i)
      for (int j = 0; j <= n; ++j, ++k) kinetic.add(state.v1[k] * fluxes.u1[k] * hc[i] * hv[j]);
  k = 0;
  for (int panel = 0; panel < panels; ++panel)
    for (int i = 0; i <= n; ++i)
      for (int j = 0; j < n; ++j, ++k) kinetic.add(state.v2[k] * fluxes.u2[k] * hv[i] * hc[j]);
  return potential + mean_depth / 2 * kinetic.value();
}

Deviation deviation(Size size, std::span<const double> h, std::span<const double> expected) {
  Deviation result;
  result.l2 = std::sqrt(integral(size.n, [&](std::size_t k) {
    const double difference = h[k] - expected[k];
    return difference * difference;
  }));
  for (std::size_t k = 0; k < h.size(); ++k) {
    const double difference = std::abs(h[k] - expected[k]);
    result.max = std::isnan(difference) ? INFINITY : std::max(result.max, difference);
  }
  return result;
}

double norm(std::span<const double> values) {
  Sum total;
  for (const double x : values) total.add(x * x);
  return std::sqrt(total.value());
}

double sum(std::span<const double> values) {
  Sum total;
  for (const double x : values) total.add(x);
  return total.value();
}

double largest(std::span<const double> values) {
  double result = 0;
  for (const double x : values) result = std::max(result, std::abs(x));
  return result;
}

State as_state(Size size, std::span<const double> result) {
  const auto h = result.begin(), v1 = h + height_count(size.n), v2 = v1 + velocity_count(size.n);
  return {{h, v1}, {v1, v2}, {v2, result.end()}};
}

}  // namespace holdfast::cubed_sphere_swe
