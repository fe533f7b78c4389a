// SPDX-License-Identifier: Apache-2.0
// Signs, masks and square roots of whole vectors. For sources compiled per instruction set.
#pragma once

#include <immintrin.h>

#include "host/functions.hpp"

namespace holdfast::xpcs_fit::HOLDFAST_ISA {

using namespace holdfast::host::HOLDFAST_ISA;

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
