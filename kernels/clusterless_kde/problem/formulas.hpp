// SPDX-License-Identifier: Apache-2.0
// The scalar mathematics, compiled by g++, NVRTC and the tests. Includes nothing from the standard,
// because device code has no such headers: exp and log come from the including file.
#pragma once

#include "runtime/device_code/both.hpp"

namespace holdfast::clusterless_kde {

// The smallest rate distinguished from zero, and its logarithm.
inline constexpr double rate_floor = 1e-15;
inline constexpr double log_rate_floor = -34.538776394910684;

inline constexpr double sqrt_two_pi = 2.5066282746310002;
inline constexpr double log_two_pi = 1.8378770664093453;
inline constexpr double log2_of_e = 1.4426950408889634;

// The factor that scales lengths so that a Gaussian of this width is exp2(-x^2): sqrt(log2(e) / 2)
// / width.
HOLDFAST_BOTH constexpr double gaussian_unit(double width) {
  return 0.8493218002880191 / width;
}

// The exponent of a Gaussian: -((a - b) / s)^2 / 2.
template <class T>
HOLDFAST_BOTH constexpr T gauss_exponent(T a, T b, T inverse_width) {
  const T distance = (a - b) * inverse_width;
  return T(-0.5) * distance * distance;
}

// The same from an expanded square, |a|^2 + |b|^2 - 2 a b in units of the widths, which rounding
// can make negative.
template <class T>
HOLDFAST_BOTH constexpr T expanded_exponent(T a_square, T b_square, T product) {
  const T distance = a_square + b_square - 2 * product;
  return distance > 0 ? T(-0.5) * distance : T(0);
}

// ln of a rate r q / o, floored; the rate counts as 0 where o is 0.
template <class T>
HOLDFAST_BOTH constexpr T floored(T log_rate) {
  return log_rate < T(log_rate_floor) ? T(log_rate_floor) : log_rate;
}

// Squared distance of two boxes: box [2, d], and the other's lowest and highest corners, [d] each.
template <int d, class T>
HOLDFAST_BOTH constexpr T box_distance(const T* box, const T (&lowest)[d], const T (&highest)[d]) {
  T sum = 0;
  for (int j = 0; j < d; ++j) {
    const T above = box[j] - highest[j], below = lowest[j] - box[d + j];
    const T gap = above > below ? above : below;
    sum += gap > 0 ? gap * gap : T(0);
  }
  return sum;
}

}  // namespace holdfast::clusterless_kde
