// SPDX-License-Identifier: Apache-2.0
// Of the plain formulation on the host: the columns of physical parameters, and the products. Part
// of host_plain.hpp.
#pragma once

#include "xpcs_fit/reference/host_plain.hpp"

namespace holdfast::xpcs_fit::HOLDFAST_ISA {

template <class T>
void Plain<T>::fill_physical(T* out, int k) {
  const T* const e = decay_.data();
  const T* const g1 = sinc_.data();
  const T kappa = static_cast<T>(problem_.input->physics.kappa());
  const int n = size_.frames;
  if (k < 5)
    return fill(out, [&, g1](int a, std::int64_t pair, std::int64_t at) {
      return -2 * kappa * contrasts_[a] * g1[at] * g1[at] *
             difference(frames_.s, frames_.s_by[k - 2], pair, n);
    });
  fill(out, [&, e](int a, std::int64_t pair, std::int64_t) {
    const T x = phase(a, pair), s = sinc(x);
    const T slope = std::abs(x) < T(0.1) ? sinc_slope_near_zero(x) : (std::cos(x) - s) / x;
    const T bent = 4 * contrasts_[a] * e[pair] * e[pair] * s * s * s * slope;
    if (k == 8) return -bent * static_cast<T>(directions_[a].sine) * shear_.data()[pair];
    return bent * static_cast<T>(directions_[a].cosine) *
           difference(frames_.q, frames_.q_by[k - 5], pair, n);
  });
}

template <class T>
void Plain<T>::make_products() {
  T* const r = residual_.data();
  if (soft_) {
    const T scale = static_cast<T>(problem_.options.loss_scale);
    const auto growth = [=](T residual) { return 1 + residual / scale * (residual / scale); };
    for (int c = 0; c < p_; ++c) {
      T* const out = column(c);
      for_points(
          [=](int, std::int64_t, std::int64_t k) { out[k] *= std::pow(growth(r[k]), T(-0.75)); });
    }
    for_points([=](int, std::int64_t, std::int64_t k) { r[k] *= std::pow(growth(r[k]), T(0.25)); });
  }
  const int n = static_cast<int>(size_.points());
  double *const g = sums_.data() + 1, *const matrix = g + p_;
  blas_({.m = p_, .n = 1, .k = n, .lda = n, .ldb = 1, .ldc = 1}, jacobian_.data(), r, g);
  blas_({.m = p_, .n = p_, .k = n, .transpose_b = true, .lda = n, .ldb = n, .ldc = p_},
        jacobian_.data(), jacobian_.data(), matrix);
}

}  // namespace holdfast::xpcs_fit::HOLDFAST_ISA
