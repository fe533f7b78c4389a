// SPDX-License-Identifier: Apache-2.0
// Exponential, hyperbolic tangent, sine and cosine of whole vectors, within 2 units in the last
// place; vectors.hpp has the logarithm and the power of two. For sources that are compiled once for
// each instruction set.
#pragma once

#include "host/vectors.hpp"

namespace holdfast::host::HOLDFAST_ISA {

template <class T>
Vector<T> magnitude(Vector<T> x) {
  return value_of<T>(bits_of<T>(x) & ~bits_of<T>(everywhere(T(-0.))));
}
// |value| with the sign of `sign`, elementwise.
template <class T>
Vector<T> with_sign(Vector<T> value, Vector<T> sign) {
  const Integers<T> place = bits_of<T>(everywhere(T(-0.)));
  return value_of<T>((bits_of<T>(value) & ~place) | (bits_of<T>(sign) & place));
}

// e^r = 1 + r + r^2 p(r), |r| <= ln 2 / 2; the arguments from which e^x is 0 and infinite.
template <class T>
struct Exponential;
template <>
struct Exponential<float> {
  static constexpr float lowest = -104.f, highest = 89.f;
  static constexpr float rest[] = {0.5f, 0.166665763f, 0.0416665561f, 0.00836317893f,
                                   0.00139261840f};
};
template <>
struct Exponential<double> {
  static constexpr double lowest = -746., highest = 710.;
  static constexpr double rest[] = {0.5,
                                    0.16666666666666669,
                                    0.04166666666662413,
                                    0.008333333333330062,
                                    0.0013888888917213717,
                                    0.00019841269863053618,
                                    2.4801521295954376e-05,
                                    2.7557268459997064e-06,
                                    2.7620088445409746e-07,
                                    2.510038549551032e-08};
};

// e^x for any x: underflows to 0, overflows to infinity, NaN for NaN.
template <class T>
inline Vector<T> exp(Vector<T> x) {
  using F = Format<T>;
  using E = Exponential<T>;
  x = x < E::lowest ? everywhere(E::lowest) : x;
  x = x > E::highest ? everywhere(E::highest) : x;
  const Vector<T> shifted = x * T(1.4426950408889634074) + F::round;
  const Vector<T> n = shifted - F::round;
  const Vector<T> r = (x - n * F::ln2_high) - n * F::ln2_low;
  const Vector<T> value = T(1) + (r + r * r * polynomial(E::rest, r));
  // The power of two is applied in two halves, because it may lie outside the normal numbers.
  const Integers<T> power = (bits_of<T>(shifted) << F::mantissa_bits) >> F::mantissa_bits;
  const Integers<T> first = power >> 1;
  return value * value_of<T>((first << F::mantissa_bits) + F::one) *
         value_of<T>(((power - first) << F::mantissa_bits) + F::one);
}

// (tanh x - x) / x^3 in x^2 for |x| < 0.625, for doubles as a quotient: above / below.
template <class T>
struct HyperbolicTangent;
template <>
struct HyperbolicTangent<float> {
  static constexpr float above[] = {-0.333333343f, 0.133333042f,    -0.0539592542f,
                                    0.0217688680f, -0.00834378041f, 0.00229255762f};
  static constexpr float below[] = {1.f};
};
template <>
struct HyperbolicTangent<double> {
  static constexpr double above[] = {-1.61468768441708447952e3, -9.92877231001918586564e1,
                                     -9.64399179425052238628e-1};
  static constexpr double below[] = {4.84406305325125486048e3, 2.23548839060100448583e3,
                                     1.12811678491632931402e2, 1.};
};

template <class T>
inline Vector<T> tanh(Vector<T> x) {
  using H = HyperbolicTangent<T>;
  const Vector<T> size = magnitude<T>(x), square = x * x;
  const Vector<T> few =
      x + x * square * (polynomial(H::above, square) / polynomial(H::below, square));
  const Vector<T> many = T(1) - T(2) / (exp<T>(size + size) + T(1));
  return with_sign<T>(size < T(0.625) ? few : many, x);
}

// Minimax polynomials for |r| <= pi / 4, lowest order first, and pi / 2 in parts, of which the
// first times a quadrant is exact in a fused multiply-add.
template <class T>
struct Circle;
template <>
struct Circle<double> {
  static constexpr double part[] = {1.5707963267948966, 6.123233995736766e-17,
                                    -1.4973849048591833e-33};
  static constexpr double sine[] = {-1.66666666666666324348e-01, 8.33333333332248946124e-03,
                                    -1.98412698298579493134e-04, 2.75573137070700676789e-06,
                                    -2.50507602534068634195e-08, 1.58969099521155010221e-10};
  static constexpr double cosine[] = {4.16666666666666019037e-02, -1.38888888888741095749e-03,
                                      2.48015872894767294178e-05, -2.75573143513906633035e-07,
                                      2.08757232129817482790e-09, -1.13596475577881948265e-11};
};
template <>
struct Circle<float> {
  static constexpr float part[] = {1.57079637f, -4.37113883e-8f, -1.71512451e-15f};
  static constexpr float sine[] = {-1.6666654611e-1f, 8.3321608736e-3f, -1.9515295891e-4f};
  static constexpr float cosine[] = {4.166664568298827e-2f, -1.388731625493765e-3f,
                                     2.443315711809948e-5f};
};

template <class T>
struct SineCosine {
  Vector<T> sine, cosine;
};

// Requires |x| <= 2^20.
template <class T>
inline SineCosine<T> sine_cosine(Vector<T> x) {
  using C = Circle<T>;
  const Vector<T> shifted = x * T(0.63661977236758134308) + Format<T>::round;
  const Vector<T> n = shifted - Format<T>::round;
  const Integers<T> quadrant = bits_of<T>(shifted);
  // Each line is one fused multiply-add.
  Vector<T> r = x - n * C::part[0];
  r = r - n * C::part[1];
  r = r - n * C::part[2];
  const Vector<T> y = r * r, half = y * T(0.5), one_less = T(1) - half;
  const Vector<T> sine = r + r * y * polynomial(C::sine, y);
  const Vector<T> cosine =
      one_less + (((T(1) - one_less) - half) + y * y * polynomial(C::cosine, y));
  const Integers<T> none = {};
  const auto odd = (quadrant & 1) != none;
  const Integers<T> sign_place = bits_of<T>(everywhere(T(-0.)));
  const Integers<T> sine_sign = ((quadrant & 2) != none) & sign_place;
  const Integers<T> cosine_sign = (((quadrant + 1) & 2) != none) & sign_place;
  return {value_of<T>(bits_of<T>(odd ? cosine : sine) ^ sine_sign),
          value_of<T>(bits_of<T>(odd ? sine : cosine) ^ cosine_sign)};
}

}  // namespace holdfast::host::HOLDFAST_ISA
