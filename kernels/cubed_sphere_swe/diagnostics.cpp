// SPDX-License-Identifier: Apache-2.0
#include "cubed_sphere_swe/diagnostics.hpp"

#include <algorithm>
#include <cmath>

#include "cubed_sphere_swe/operators.hpp"
#include "cubed_sphere_swe/sphere.hpp"

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

// y = A x for one panel along x1 (A: [rows, n1], x: [n1, n2]) or, transposed in role, along x2 (x:
// [n2, n1]).
void apply_along_x1(const std::vector<double>& a, int rows, int n1, int n2, const double* x,
                    double* y) {
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < n2; ++j) {
      double value = 0;
      for (int k = 0; k < n1; ++k) value += a[static_cast<std::size_t>(i) * n1 + k] * x[k * n2 + j];
      y[i * n2 + j] = value;
    }
}
void apply_along_x2(const std::vector<double>& a, int rows, int n1, int n2, const double* x,
                    double* y) {
  for (int i = 0; i < n2; ++i)
    for (int j = 0; j < rows; ++j) {
      double value = 0;
      for (int k = 0; k < n1; ++k) value += a[static_cast<std::size_t>(j) * n1 + k] * x[i * n1 + k];
      y[i * rows + j] = value;
    }
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

double area(Size size) {
  return integral(size.n, [](std::size_t) { return 1.; });
}

double energy(Size size, const State& state, MetricSign q12) {
  const int n = size.n;
  const MetricTables tables = metric_tables(n, q12);
  const std::vector<double> hv = vertex_weights(n), hc = center_weights(n);
  const std::vector<double> to_vertices = dense(Operator::pcv, n),
                            to_centers = dense(Operator::pvc, n);
  const double potential =
      integral(n, [&](std::size_t k) { return gravity / 2 * state.h[k] * state.h[k]; });

  const std::size_t per_panel = static_cast<std::size_t>(n) * (n + 1);
  std::vector<double> at_vertices(static_cast<std::size_t>(n + 1) * (n + 1)), cross(per_panel);
  Sum kinetic;
  const auto scale = [&] {
    for (std::size_t k = 0; k < at_vertices.size(); ++k) at_vertices[k] *= tables.jq12[k];
  };
  for (int panel = 0; panel < panels; ++panel) {
    const double* v1 = state.v1.data() + panel * per_panel;
    const double* v2 = state.v2.data() + panel * per_panel;
    apply_along_x2(to_vertices, n + 1, n, n + 1, v2, at_vertices.data());
    scale();
    apply_along_x1(to_centers, n, n + 1, n + 1, at_vertices.data(), cross.data());
    for (int i = 0, k = 0; i < n; ++i)
      for (int j = 0; j <= n; ++j, ++k)
        kinetic.add(v1[k] * (tables.jq11[k] * v1[k] + cross[k]) * hc[i] * hv[j]);
    apply_along_x1(to_vertices, n + 1, n, n + 1, v1, at_vertices.data());
    scale();
    apply_along_x2(to_centers, n, n + 1, n + 1, at_vertices.data(), cross.data());
    for (int i = 0, k = 0; i <= n; ++i)
      for (int j = 0; j < n; ++j, ++k)
        kinetic.add(v2[k] * (tables.jq22[k] * v2[k] + cross[k]) * hv[i] * hc[j]);
  }
  return potential + mean_depth / 2 * kinetic.value();
}

Deviation deviation(Size size, std::span<const double> h, std::span<const double> expected) {
  Deviation result;
  result.l2 = std::sqrt(integral(size.n, [&](std::size_t k) {
    const double difference = h[k] - expected[k];
    return difference * difference;
  }));
  for (std::size_t k = 0; k < h.size(); ++k)
    result.max = std::max(result.max, std::abs(h[k] - expected[k]));
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
