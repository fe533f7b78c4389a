// SPDX-License-Identifier: Apache-2.0
// Sine and cosine of whole vectors, to 2^20. For sources that are compiled once for each
// instruction set.
#pragma once

#include <immintrin.h>

#include "host/vectors.hpp"

namespace holdfast::xpcs_fit::HOLDFAST_ISA {

using namespace holdfast::host::HOLDFAST_ISA;

// Minimax polynomials of |r| <= pi / 4, lowest order first, and pi / 2 in parts of which the first
// leaves the product with a quadrant exact where it is fused.
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

// |x| <= 2^20.
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
  const Integers<T> sign_place = bits_of<T>(everywhere<T>(T(-0.)));
  const Integers<T> sine_sign = ((quadrant & 2) != none) & sign_place;
  const Integers<T> cosine_sign = (((quadrant + 1) & 2) != none) & sign_place;
  return {value_of<T>(bits_of<T>(odd ? cosine : sine) ^ sine_sign),
          value_of<T>(bits_of<T>(odd ? sine : cosine) ^ cosine_sign)};
}

template <class T>
inline Vector<T> magnitude(Vector<T> x) {
  return value_of<T>(bits_of<T>(x) & ~bits_of<T>(everywhere<T>(T(-0.))));
}
// 1 with the sign of x.
template <class T>
inline Vector<T> sign_of(Vector<T> x) {
  return value_of<T>((bits_of<T>(x) & bits_of<T>(everywhere<T>(T(-0.)))) |
                     bits_of<T>(everywhere<T>(T(1))));
}
inline bool any(Integers<double> mask) {
#ifdef __AVX512F__
  return _mm512_movepi64_mask(std::bit_cast<__m512i>(mask)) != 0;
#else
  return _mm256_movemask_pd(std::bit_cast<__m256d>(mask)) != 0;
#endif
}
inline bool any(Integers<float> mask) {
#ifdef __AVX512F__
  return _mm512_movepi32_mask(std::bit_cast<__m512i>(mask)) != 0;
#else
  return _mm256_movemask_ps(std::bit_cast<__m256>(mask)) != 0;
#endif
}
inline Vector<double> root(Vector<double> x) {
#ifdef __AVX512F__
  return std::bit_cast<Vector<double>>(_mm512_maskz_sqrt_pd(0xff, std::bit_cast<__m512d>(x)));
#else
  return std::bit_cast<Vector<double>>(_mm256_sqrt_pd(std::bit_cast<__m256d>(x)));
#endif
}
inline Vector<float> root(Vector<float> x) {
#ifdef __AVX512F__
  return std::bit_cast<Vector<float>>(_mm512_maskz_sqrt_ps(0xffff, std::bit_cast<__m512>(x)));
#else
  return std::bit_cast<Vector<float>>(_mm256_sqrt_ps(std::bit_cast<__m256>(x)));
#endif
}

}  // namespace holdfast::xpcs_fit::HOLDFAST_ISA
