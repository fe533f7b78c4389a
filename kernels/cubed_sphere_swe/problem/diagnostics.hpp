// SPDX-License-Identifier: Apache-2.0
// Integrals and norms of a state over the sphere. Sums are compensated: a plain serial sum adds
// 7e-15 of summation noise to the mass, more than the scheme itself.
#pragma once

#include <span>

#include "cubed_sphere_swe/problem/state.hpp"

namespace holdfast::cubed_sphere_swe {

// Kahan-Babuska (Neumaier): exact to the last bit for the sums formed here.
class Sum {
 public:
  void add(double value);
  double value() const { return sum_ + correction_; }

 private:
  double sum_ = 0, correction_ = 0;
};

double mass(Size size, std::span<const double> h);  // integral of h; h: [6, n+1, n+1]
// |mass - start|, relative to `start` unless that is zero.
double relative_drift(double mass, double start);
double energy(Size size, const State& state, MetricSign q12 = MetricSign::correct);
double area(Size size);  // of the sphere by the scheme's quadrature

struct Deviation {
  double l2 = 0;   // sqrt of the integral of the squared difference
  double max = 0;  // largest absolute difference
};
Deviation deviation(Size size, std::span<const double> h, std::span<const double> expected);

double norm(std::span<const double> values);  // Euclidean over all entries
double sum(std::span<const double> values);
double largest(std::span<const double> values);  // absolute

// result() of a computation as the state or tendency that it holds.
State as_state(Size size, std::span<const double> result);

}  // namespace holdfast::cubed_sphere_swe
