// SPDX-License-Identifier: Apache-2.0
// The plain formulation on the host: residuals, the columns of the Jacobian, and the loss's changes
// to both. Part of host_parts.hpp.
#pragma once

#include "xpcs_fit/reference/host_parts.hpp"
#include "xpcs_fit/reference/host_sum.hpp"

namespace holdfast::xpcs_fit::HOLDFAST_ISA {

template <class T>
double PlainPart<T>::make_residual(const PlainPlanes<T>& of, PointRange range, const T* data,
                                   const T* weights) {
  T* const r = residual_.data();
  const T* const m = model_.data();
  for_points(of, range, [=](const PlainPoint& at) { r[at.k] = m[at.k] - data[at.k]; });
  if (weights) for_points(of, range, [=](const PlainPoint& at) { r[at.k] *= weights[at.k]; });
  if (options_.loss == Loss::linear)
    return ordered_sum(range.count,
                       [=](std::int64_t k) { return double{r[k]} * double{r[k]} / 2; });
  const T scale = static_cast<T>(options_.loss_scale);
  return ordered_sum(range.count, [=](std::int64_t k) {
    const T z = r[k] / scale * (r[k] / scale);
    return double{scale * scale * (std::sqrt(1 + z) - 1)};
  });
}

template <class T>
void PlainPart<T>::make_jacobian(const PlainPlanes<T>& of, PointRange range, const T* weights) {
  const bool per_angle = options_.scaling == Scaling::per_angle;
  const int own = local_parameters(options_.mode), scalings = per_angle ? of.size().angles : 1;
  const T* const g1 = g1_.data();
  const auto column = [&](int k) { return jacobian_.data() + k * range.count; };
  for (int a = 0; a < scalings; ++a) {
    const auto mine = [=](int angle) { return !per_angle || angle == a; };
    fill(of, range, weights, column(a),
         [=](const PlainPoint& at) { return mine(at.a) ? g1[at.k] * g1[at.k] : T(0); });
    fill(of, range, weights, column(scalings + a),
         [=](const PlainPoint& at) { return mine(at.a) ? T(1) : T(0); });
  }
  for (int k = 2; k < own; ++k) fill_physical(of, range, weights, column(2 * scalings + k - 2), k);
}

template <class T>
void PlainPart<T>::fill_physical(const PlainPlanes<T>& of, PointRange range, const T* weights,
                                 T* out, int k) {
  const T* const e = of.decay();
  const T* const g1 = g1_.data();
  const T kappa = of.kappa();
  const Frames& frames = of.frames();
  if (k < 5)
    return fill(of, range, weights, out, [&, g1](const PlainPoint& at) {
      return -2 * kappa * of.contrast(at.a) * g1[at.k] * g1[at.k] *
             difference(frames.s, frames.s_by[k - 2], at);
    });
  fill(of, range, weights, out, [&, e](const PlainPoint& at) {
    const T x = of.phase(at.a, at.pair), s = sinc(x);
    const T slope = std::abs(x) < T(0.1) ? sinc_slope_near_zero(x) : (std::cos(x) - s) / x;
    const T bent = 4 * of.contrast(at.a) * e[at.pair] * e[at.pair] * s * s * s * slope;
    if (k == 8) return -bent * of.sine(at.a) * of.shear()[at.pair];
    return bent * of.cosine(at.a) * difference(frames.q, frames.q_by[k - 5], at);
  });
}

template <class T>
void PlainPart<T>::soften(const PlainPlanes<T>& of, PointRange range) {
  T* const r = residual_.data();
  const T scale = static_cast<T>(options_.loss_scale);
  const auto growth = [=](T residual) { return 1 + residual / scale * (residual / scale); };
  for (int c = 0; c < p_; ++c) {
    T* const out = jacobian_.data() + c * range.count;
    for_points(of, range,
               [=](const PlainPoint& at) { out[at.k] *= std::pow(growth(r[at.k]), T(-0.75)); });
  }
  for_points(of, range,
             [=](const PlainPoint& at) { r[at.k] *= std::pow(growth(r[at.k]), T(0.25)); });
}

}  // namespace holdfast::xpcs_fit::HOLDFAST_ISA
