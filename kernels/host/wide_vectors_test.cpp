// SPDX-License-Identifier: Apache-2.0
// Code written for x86-64-v4 alone, on any machine: the compiler builds vectors of 64 bytes from
// narrower ones, and an estimate as rough as the processor's replaces the one instruction without
// such a form.
#include <gtest/gtest.h>
#include <immintrin.h>

#include <cmath>
#include <cstddef>
#include <limits>

namespace holdfast::host {
namespace {

// Alternate lanes have the largest allowed error below and above.
template <class Register>
Register rough_inverse_roots(Register x) {
  constexpr double most_off = 0x1p-14;
  for (std::size_t k = 0; k < sizeof(x) / sizeof(x[0]); ++k)
    x[k] = static_cast<decltype(x[k] + 0)>((k % 2 == 0 ? 1 - most_off : 1 + most_off) /
                                           std::sqrt(static_cast<double>(x[k])));
  return x;
}

}  // namespace
}  // namespace holdfast::host

// NOLINTBEGIN(bugprone-reserved-identifier)
#define __AVX512F__ 1
#define _mm512_maskz_rsqrt14_ps(mask, x) rough_inverse_roots(x)
#define _mm512_maskz_rsqrt14_pd(mask, x) rough_inverse_roots(x)
// NOLINTEND(bugprone-reserved-identifier)
#define HOLDFAST_ISA isa_wide
#include "host/vectors.hpp"

namespace holdfast::host::HOLDFAST_ISA {
namespace {

template <class T>
class WideVectors : public testing::Test {};
using Precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(WideVectors, Precisions);

TYPED_TEST(WideVectors, RefineTheRoughestInverseRootToTwoUnits) {
  using T = TypeParam;
  static_assert(Lanes<T>::count * sizeof(T) == 64);
  constexpr int points = 20003;
  for (int k = 1; k <= points; ++k) {
    const T x = static_cast<T>(std::exp(-60. + 120. * k / points));
    const long double exact = 1 / std::sqrt(static_cast<long double>(x));
    const Vector<T> found = inverse_root<T>(everywhere(x));
    for (int lane : {0, 1})
      ASSERT_LT(std::abs(found[lane] / exact - 1), 2 * std::numeric_limits<T>::epsilon()) << x;
  }
}

}  // namespace
}  // namespace holdfast::host::HOLDFAST_ISA
