// SPDX-License-Identifier: Apache-2.0
// The scalar mathematics, written once for g++ on the host and NVRTC on the device.
#pragma once

#include "runtime/device_code/both.hpp"

#ifndef __CUDACC_RTC__
#include <cmath>
#endif

namespace holdfast::xpcs_fit {

inline constexpr double rate_floor = 1e-10, model_floor = 1e-10, model_ceiling = 2;
inline constexpr double degree = 3.14159265358979323846 / 180;
// Beyond this phase the average over the gap is taken as zero, and no reduction is exact.
inline constexpr double largest_phase = 1048576;

// A rate at one frame and its derivatives by its three parameters: zero where the floor acts.
struct Rate {
  double value = 0, by[3] = {};
};

// scale * x^power + offset. NaN stays NaN, since a comparison with it fails.
HOLDFAST_BOTH inline Rate rate(double x, double scale, double power, double offset) {
  const double factor = pow(x, power), value = scale * factor + offset;
  if (value < rate_floor) return {rate_floor, {0, 0, 0}};
  return {value, {factor, scale * factor * log(x), 1}};
}
HOLDFAST_BOTH inline Rate diffusion_rate(double t, const double* d0_alpha_offset) {
  return rate(t + 1e-10, d0_alpha_offset[0], d0_alpha_offset[1], d0_alpha_offset[2]);
}
HOLDFAST_BOTH inline Rate shear_rate(double t, double dt, const double* gamma_beta_offset) {
  return rate(t == 0 ? dt : t, gamma_beta_offset[0], gamma_beta_offset[1], gamma_beta_offset[2]);
}

// The derivative of sin(x) / x, (cos x - sin x / x) / x, which cancels for small x.
template <class T>
HOLDFAST_BOTH inline T sinc_slope_near_zero(T x) {
  const T y = x * x;
  return x * (T(-1. / 3) +
              y * (T(1. / 30) + y * (T(-1. / 840) + y * (T(1. / 45360) - y * T(1. / 3991680)))));
}

// Sine and cosine of |x| <= 2^20, without the path for larger arguments for which a library needs a
// stack: a quadrant is subtracted in parts, and polynomials do the rest.
struct SineCosine64 {
  double sine = 0, cosine = 1;
};
HOLDFAST_BOTH inline SineCosine64 sine_cosine(double x) {
  const double n = rint(x * 0.63661977236758134308);
  double r = fma(n, -1.5707963267948966, x);
  r = fma(n, -6.123233995736766e-17, r);
  r = fma(n, 1.4973849048591833e-33, r);
  const double y = r * r;
  double s = fma(y, 1.58969099521155010221e-10, -2.50507602534068634195e-08);
  s = fma(y, s, 2.75573137070700676789e-06);
  s = fma(y, s, -1.98412698298579493134e-04);
  s = fma(y, s, 8.33333333332248946124e-03);
  s = fma(y, s, -1.66666666666666324348e-01);
  s = fma(r * y, s, r);
  double c = fma(y, -1.13596475577881948265e-11, 2.08757232129817482790e-09);
  c = fma(y, c, -2.75573143513906633035e-07);
  c = fma(y, c, 2.48015872894767294178e-05);
  c = fma(y, c, -1.38888888888741095749e-03);
  c = fma(y, c, 4.16666666666666019037e-02);
  const double half = y / 2, less = 1 - half;
  c = less + fma(y * y, c, (1 - less) - half);
  const int quadrant = static_cast<int>(n);
  const double sine = quadrant & 1 ? c : s, cosine = quadrant & 1 ? s : c;
  return {quadrant & 2 ? -sine : sine, (quadrant + 1) & 2 ? -cosine : cosine};
}
struct SineCosine32 {
  float sine = 0, cosine = 1;
};
HOLDFAST_BOTH inline SineCosine32 sine_cosine(float x) {
  const float n = rintf(x * 0.636619772f);
  float r = fmaf(n, -1.57079637f, x);
  r = fmaf(n, 4.37113883e-8f, r);
  r = fmaf(n, 1.71512451e-15f, r);
  const float y = r * r;
  float s = fmaf(y, -1.9515295891e-4f, 8.3321608736e-3f);
  s = fmaf(y, s, -1.6666654611e-1f);
  s = fmaf(r * y, s, r);
  float c = fmaf(y, 2.443315711809948e-5f, -1.388731625493765e-3f);
  c = fmaf(y, c, 4.166664568298827e-2f);
  c = fmaf(y * y, c, 1 - y / 2);
  const int quadrant = static_cast<int>(n);
  const float sine = quadrant & 1 ? c : s, cosine = quadrant & 1 ? s : c;
  return {quadrant & 2 ? -sine : sine, (quadrant + 1) & 2 ? -cosine : cosine};
}

// A point's terms are products of a factor of its angle and a factor of its pair of frames. An
// angle has four factors: G = g1^2, one, h and e (README, "Sums").
enum AngleFactor { factor_g, factor_one, factor_h, factor_e };
HOLDFAST_BOTH constexpr int angle_factor(int k) {
  return k == 0 || (k >= 2 && k < 5) ? factor_g : k == 1 ? factor_one : k < 8 ? factor_h : factor_e;
}
// False for contrast and offset themselves; all others carry the contrast once, which sums omit.
HOLDFAST_BOTH constexpr bool carries_contrast(int k) {
  return k >= 2;
}

// The place of entry (k, l <= k) of a symmetric matrix, and the number of sums of one angle: the
// cost F, the gradient g [p], the matrix N [p (p + 1) / 2], in this order.
HOLDFAST_BOTH constexpr int packed(int k, int l) {
  return k * (k + 1) / 2 + l;
}
HOLDFAST_BOTH constexpr int sum_count(int p) {
  return 1 + p + packed(p, 0);
}

// The index in the whole fit of the k-th parameter of angle a.
HOLDFAST_BOTH constexpr int global_parameter(int k, int a, int angles, bool per_angle) {
  if (!per_angle) return k;
  return k == 0 ? a : k == 1 ? angles + a : 2 * angles + k - 2;
}

}  // namespace holdfast::xpcs_fit
