// SPDX-License-Identifier: Apache-2.0
// The two exact formulations of a decode, and the choice of the cheaper one. On a track a Gaussian
// of width sigma is the trapezoidal sum of two of width sigma / sqrt 2 over nodes h apart, so that
// the sum over encoding spikes goes through Q nodes instead of P places. README.md has the error
// bound.
#pragma once

#include <vector>

#include "clusterless_kde/problem/preparation.hpp"
#include "runtime/base/precision.hpp"

namespace holdfast::clusterless_kde {

enum class Path { dense, two_hop };

struct Nodes {
  int count = 0;  // Q, a multiple of 16
  double first = 0, spacing = 0;
  double weight = 0;  // C_q = h / ((sigma / 2) sqrt(2 pi))

  double at(int q) const { return first + q * spacing; }
};

// Nodes for a track (d = 1); f32: h <= 0.58 sigma, f64: h <= 0.42 sigma.
Nodes nodes(const Shape& shape, Precision precision);

// Chosen by operation count, from the shape alone, so that host, cuda and cuda-dry agree.
Path path(const Shape& shape, Precision precision);

}  // namespace holdfast::clusterless_kde
