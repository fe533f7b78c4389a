// SPDX-License-Identifier: Apache-2.0
// Vectors as wide as the instruction set, with exponential and logarithm. They are written
// explicitly, so that a result depends neither on how a compiler vectorises a loop nor on a value's
// position in an array. For sources that are compiled once for each instruction set.
#pragma once

#include <immintrin.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace holdfast::host::HOLDFAST_ISA {

#ifdef __AVX512F__
inline constexpr int vector_bytes = 64;
#else
inline constexpr int vector_bytes = 32;
#endif

template <class T>
struct Lanes {
  using Integer = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
  static constexpr int count = vector_bytes / sizeof(T);
  typedef T Vector [[gnu::vector_size(vector_bytes)]];
  typedef Integer Integers [[gnu::vector_size(vector_bytes)]];
  typedef T Anywhere [[gnu::vector_size(vector_bytes), gnu::aligned(sizeof(T)), gnu::may_alias]];
};
template <class T>
using Vector = Lanes<T>::Vector;
template <class T>
using Integers = Lanes<T>::Integers;

template <class T>
Vector<T> load(const T* x) {
  return *reinterpret_cast<const Lanes<T>::Anywhere*>(x);
}
template <class T>
void store(T* x, Vector<T> value) {
  *reinterpret_cast<Lanes<T>::Anywhere*>(x) = value;
}
template <class T>
Vector<T> everywhere(T x) {
  return x - Vector<T>{};
}
template <class T>
Integers<T> bits_of(Vector<T> x) {
  return std::bit_cast<Integers<T>>(x);
}
template <class T>
Vector<T> value_of(Integers<T> bits) {
  return std::bit_cast<Vector<T>>(bits);
}
// A NaN in x becomes `least`.
template <class T>
Vector<T> at_least(Vector<T> x, T least) {
  return x > least ? x : everywhere(least);
}
template <class T>
T sum_of(Vector<T> x) {
  T sum = 0;
  for (int k = 0; k < Lanes<T>::count; ++k) sum += x[k];
  return sum;
}

// Layout of a floating-point format, and minimax polynomials, lowest order first.
template <class T>
struct Format;

template <>
struct Format<float> {
  static constexpr int mantissa_bits = 23;
  static constexpr std::int32_t bias = 127, one = bias << mantissa_bits;
  static constexpr std::int32_t root_of_half = 0x3f3504f3;
  static constexpr float round = 12582912.f;  // 1.5 2^23: added, it leaves an integer in the bits
  static constexpr float ln2_high = 0.693359375f, ln2_low = -2.12194440e-4f;  // high: 9 bits
  // 2^f, |f| <= 1/2, relative error 2e-9, with 2^0 = 1.
  static constexpr float exp2[] = {1.f,
                                   0.693147205737176546f,
                                   0.240226468908067217f,
                                   0.0555032877716165622f,
                                   0.00961848893757904087f,
                                   0.00133999311633451444f,
                                   0.000153458172256382638f};
  // (ln(1 + x) - x + x^2 / 2) / x^3, 1 + x between the roots of 1/2 and 2.
  static constexpr float log[] = {0.333333317078721261f, -0.250008210317827073f,
                                  0.200012268659974257f, -0.166233574123654995f,
                                  0.142017582403332414f, -0.131601820794274075f,
                                  0.127615754033671727f, -0.0763449520565529094f};
};

template <>
struct Format<double> {
  static constexpr int mantissa_bits = 52;
  static constexpr std::int64_t bias = 1023, one = bias << mantissa_bits;
  static constexpr std::int64_t root_of_half = 0x3fe6a09e667f3bcd;
  static constexpr double round = 6755399441055744.;              // 1.5 2^52
  static constexpr double ln2_high = 6.93147180369123816490e-01;  // 32 bits
  static constexpr double ln2_low = 1.90821492927058770002e-10;
  static constexpr double exp2[] = {1.,
                                    0.6931471805599453304599,
                                    0.2402265069591015620381,
                                    0.05550410866481992159678,
                                    0.009618129107588335335482,
                                    0.001333355814678992495547,
                                    0.000154035304625143175111,
                                    0.0000152527334899844576106,
                                    0.000001321543308973107197788,
                                    1.017819802360488521872e-7,
                                    7.074105604828930936071e-9,
                                    4.435282398515893762795e-10};
  // (ln((1 + z) / (1 - z)) - 2 z) / z^3 in z^2.
  static constexpr double log[] = {0.6666666666666734412083, 0.3999999999941468058086,
                                   0.285714287423869392702,  0.2222219857326874689467,
                                   0.1818356432118644924203, 0.1531405068943334253955,
                                   0.1479594823897429523406};
};

template <class T, std::size_t count>
Vector<T> polynomial(const T (&coefficients)[count], Vector<T> x) {
  Vector<T> sum = everywhere(coefficients[count - 1]);
  for (std::size_t k = count - 1; k-- > 0;) sum = sum * x + coefficients[k];
  return sum;
}

// 2^x for x <= bias: 0 below the normal numbers (also for -inf), exactly 1 at 0.
template <class T>
Vector<T> exp2(Vector<T> x) {
  using F = Format<T>;
  x = at_least<T>(x, -F::bias);
  const Vector<T> shifted = x + F::round;
  const Vector<T> fraction = x - (shifted - F::round);
  const Integers<T> scale = (bits_of<T>(shifted) << F::mantissa_bits) + F::one;
  return polynomial(F::exp2, fraction) * value_of<T>(scale);
}

template <class T>
Vector<T> to_float(Integers<T> x) {
  if constexpr (std::is_same_v<T, float>)
    return __builtin_convertvector(x, Vector<T>);
  else  // AVX2 lacks the instruction; requires |x| < 2^51
    return value_of<T>(x + std::bit_cast<std::int64_t>(Format<T>::round)) - Format<T>::round;
}

// ln(x) + exponent ln 2 of positive normal numbers.
template <class T>
Vector<T> log(Vector<T> x, Integers<T> exponent) {
  using F = Format<T>;
  const Integers<T> bits = bits_of<T>(x);
  const Integers<T> own = (bits - F::root_of_half) >> F::mantissa_bits;
  const Vector<T> r = value_of<T>(bits - (own << F::mantissa_bits)) - T(1);
  const Vector<T> e = to_float<T>(own + exponent);
  if constexpr (std::is_same_v<T, float>) {
    const Vector<T> rest = r * r * (r * polynomial(F::log, r) - T(0.5)) + e * F::ln2_low;
    return e * F::ln2_high + (r + rest);
  } else {
    const Vector<T> z = r / (r + T(2)), z2 = z * z;
    const Vector<T> rest = z * (z2 * polynomial(F::log, z2)) + e * F::ln2_low;
    return e * F::ln2_high + (T(2) * z + rest);
  }
}

// 1 / sqrt(x) for positive normal numbers. Where the instruction set has a good estimate, one (f32)
// or two (f64) Newton steps are faster than a root and a division.
template <class T>
Vector<T> inverse_root(Vector<T> x) {
#ifdef __AVX512F__
  Vector<T> y;
  if constexpr (std::is_same_v<T, float>)
    y = std::bit_cast<Vector<T>>(_mm512_maskz_rsqrt14_ps(-1, std::bit_cast<__m512>(x)));
  else
    y = std::bit_cast<Vector<T>>(_mm512_maskz_rsqrt14_pd(-1, std::bit_cast<__m512d>(x)));
  for (int step = 0; step < (std::is_same_v<T, float> ? 1 : 2); ++step)
    y += y * T(0.5) * (T(1) - x * y * y);
  return y;
#else
  if constexpr (std::is_same_v<T, float>)
    return T(1) / std::bit_cast<Vector<T>>(_mm256_sqrt_ps(std::bit_cast<__m256>(x)));
  else
    return T(1) / std::bit_cast<Vector<T>>(_mm256_sqrt_pd(std::bit_cast<__m256d>(x)));
#endif
}

// Swaps the lanes k of b that lack bit `width` with the lanes of a that have it: for two rows of a
// square, the off-diagonal parts of its blocks of that width.
template <class T, int width, int... k>
void exchange(Vector<T>& a, Vector<T>& b, std::integer_sequence<int, k...>) {
  constexpr int count = sizeof...(k);
  const Vector<T> upper = __builtin_shufflevector(a, b, (k & width ? count + k - width : k)...);
  b = __builtin_shufflevector(a, b, (k & width ? count + k : k + width)...);
  a = upper;
}

// Transposes a square of as many vectors as a vector has lanes.
template <class T, int width = 1>
void transpose(Vector<T>* rows) {
  constexpr int count = Lanes<T>::count;
  if constexpr (width < count) {
    for (int r = 0; r < count; ++r)
      if (!(r & width))
        exchange<T, width>(rows[r], rows[r + width], std::make_integer_sequence<int, count>());
    transpose<T, 2 * width>(rows);
  }
}

}  // namespace holdfast::host::HOLDFAST_ISA
