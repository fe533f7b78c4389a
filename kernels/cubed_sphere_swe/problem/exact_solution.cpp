// SPDX-License-Identifier: Apache-2.0
#include "cubed_sphere_swe/problem/exact_solution.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "cubed_sphere_swe/problem/sphere.hpp"
#include "runtime/base/error.hpp"

namespace holdfast::cubed_sphere_swe {
namespace {

// h0(theta) = amplitude exp(-decay theta^2) about a point of the sphere.
struct Bump {
  double amplitude = 1, decay = 16;
  Vector<double> center = {0, 0, 1};
};

Bump bump(Start start) {
  switch (start) {
    case Start::seed:
      return {0.01, 1 / 0.18, {0, 0, 1}};
    case Start::face:
      return {};
    case Start::edge:
      return {1, 16, {1 / std::numbers::sqrt2, 0, 1 / std::numbers::sqrt2}};
    case Start::vertex: {
      const double r = 1 / std::sqrt(3.);
      return {1, 16, {r, r, r}};
    }
    case Start::tilt: {
      const double t = std::tan(std::numbers::pi / 8);
      return {1, 16, point(0, t, t, std::sqrt(1 + 2 * t * t))};
    }
    default:
      throw Error(Fault::bad_input,
                  "this start has no bump and so no series; use seed, face, edge, vertex or tilt");
  }
}

double height(const Bump& b, double x) {
  const double theta = std::acos(std::clamp(x, -1., 1.));
  return b.amplitude * std::exp(-b.decay * theta * theta);
}

// Enough: c_l ~ exp(-l^2 / 64), and more terms only add quadrature noise.
constexpr int degree = 64;
constexpr int nodes = 256;

// Gauss-Legendre nodes and weights on [-1, 1], by Newton's method on P_256.
struct Quadrature {
  std::array<double, nodes> x = {}, weight = {};
  Quadrature() {
    for (int q = 0; q < nodes; ++q) {
      long double z = std::cos(std::numbers::pi_v<long double> * (q + 0.75L) / (nodes + 0.5L)),
                  slope = 0;
      for (int iteration = 0; iteration < 10; ++iteration) {
        long double previous = 1, current = z;
        for (int l = 2; l <= nodes; ++l) {
          const long double next = ((2 * l - 1) * z * current - (l - 1) * previous) / l;
          previous = current;
          current = next;
        }
        slope = nodes * (z * current - previous) / (z * z - 1);
        z -= current / slope;
      }
      x[q] = static_cast<double>(z);
      weight[q] = static_cast<double>(2 / ((1 - z * z) * slope * slope));
    }
  }
};

std::array<double, degree + 1> coefficients(const Bump& b) {
  static const Quadrature rule;
  std::array<double, degree + 1> c = {};
  for (int q = 0; q < nodes; ++q) {
    const double x = rule.x[q], value = rule.weight[q] * height(b, x);
    double previous = 1, current = x;
    c[0] += value / 2;
    for (int l = 1; l <= degree; ++l) {
      c[l] += (2 * l + 1) * value * current / 2;
      const double next = ((2 * l + 1) * x * current - l * previous) / (l + 1);
      previous = current;
      current = next;
    }
  }
  return c;
}

std::array<double, degree + 1> coefficients(const Bump& b, double t) {
  std::array<double, degree + 1> c = coefficients(b);
  for (int l = 0; l <= degree; ++l) c[l] *= std::cos(std::sqrt(l * (l + 1.)) * t);
  return c;
}

// sum_l c_l P_l(x), by Clenshaw's recurrence.
double clenshaw(const std::array<double, degree + 1>& c, double x) {
  double next = 0, after_next = 0;
  for (int k = degree; k >= 1; --k) {
    const double now = c[k] + (2. * k + 1) / (k + 1) * x * next - (k + 1.) / (k + 2) * after_next;
    after_next = next;
    next = now;
  }
  return c[0] + x * next - after_next / 2;
}

// One value per vertex of the sphere, as a function of its position.
template <class Function>
std::vector<double> everywhere(int n, Function value) {
  const Axis grid = axis(n);
  std::vector<double> field;
  field.reserve(height_count(n));
  for (int panel = 0; panel < panels; ++panel)
    for (const double t1 : grid.tan_vertices)
      for (const double t2 : grid.tan_vertices)
        field.push_back(value(point(panel, t1, t2, std::sqrt(1 + t1 * t1 + t2 * t2))));
  return field;
}

}  // namespace

std::vector<double> exact_height(Size size, Start start, double t) {
  switch (start) {
    case Start::mode1:
      return everywhere(size.n,
                        [f = std::cos(std::sqrt(2.) * t)](Vector<double> r) { return f * r.z; });
    case Start::mode2:
      return everywhere(size.n, [f = std::cos(std::sqrt(6.) * t)](Vector<double> r) {
        return f * (3 * r.z * r.z - 1) / 2;
      });
    case Start::random:
      throw Error(Fault::bad_input, "the start 'random' has no exact solution; use another start");
    default:
      break;
  }
  const Bump b = bump(start);
  if (t == 0)
    return everywhere(size.n, [&](Vector<double> r) { return height(b, dot(r, b.center)); });
  const auto c = coefficients(b, t);
  return everywhere(size.n, [&](Vector<double> r) { return clenshaw(c, dot(r, b.center)); });
}

}  // namespace holdfast::cubed_sphere_swe
