// SPDX-License-Identifier: Apache-2.0
// The host's vectors, compiled here for the lowest instruction set.
#define HOLDFAST_ISA isa_test
#include "host/vectors.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace holdfast::host::HOLDFAST_ISA {
namespace {

template <class T>
T exp2_of(double x) {
  return exp2<T>(everywhere(T(x)))[Lanes<T>::count - 1];
}
template <class T>
T log_of(double x) {
  return log<T>(everywhere(T(x)), Integers<T>{})[Lanes<T>::count - 1];
}

// In units of the last place of 1.
template <class T>
double relative_error(T value, long double exact) {
  return static_cast<double>(std::abs((value - exact) / exact)) / std::numeric_limits<T>::epsilon();
}

template <class T>
class VectorFunctions : public testing::Test {};
using Precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(VectorFunctions, Precisions);

TYPED_TEST(VectorFunctions, TheSumIsOfEveryLane) {
  using T = TypeParam;
  Vector<T> powers = {};
  for (int k = 0; k < Lanes<T>::count; ++k) powers[k] = static_cast<T>(1 << k);
  EXPECT_EQ(sum_of<T>(powers), (1 << Lanes<T>::count) - 1);
}

TYPED_TEST(VectorFunctions, Exp2IsWithinOneUnitOverAllNormalResults) {
  using T = TypeParam;
  constexpr double lowest = -Format<T>::bias + 1, highest = Format<T>::bias;
  constexpr int points = 200003;
  for (int k = 0; k <= points; ++k) {
    const T x = static_cast<T>(lowest + (highest - lowest) * k / points);
    ASSERT_LT(relative_error(exp2_of<T>(x), std::exp2(static_cast<long double>(x))), 1) << x;
  }
}

TYPED_TEST(VectorFunctions, Exp2OfWholeNumbersIsExact) {
  using T = TypeParam;
  for (int n = -100; n <= 100; ++n) ASSERT_EQ(exp2_of<T>(n), std::ldexp(T(1), n)) << n;
}

TYPED_TEST(VectorFunctions, Exp2IsZeroFarBelowAndAtMinusInfinity) {
  using T = TypeParam;
  for (const double x : {-1.0 * Format<T>::bias, -5000., -1e30})
    EXPECT_EQ(exp2_of<T>(x), T(0)) << x;
  EXPECT_EQ(exp2_of<T>(-std::numeric_limits<double>::infinity()), T(0));
}

TYPED_TEST(VectorFunctions, LogIsWithinTwoUnitsOverAllNormalNumbers) {
  using T = TypeParam;
  const double lowest = std::log(std::numeric_limits<T>::min());
  const double highest = std::log(std::numeric_limits<T>::max());
  constexpr int points = 200003;
  for (int k = 1; k < points; ++k) {
    const T x = static_cast<T>(std::exp(lowest + (highest - lowest) * k / points));
    ASSERT_LT(relative_error(log_of<T>(x), std::log(static_cast<long double>(x))), 2) << x;
  }
  for (int k = 1; k < points; ++k) {  // near 1, where a difference would cancel
    const T x = static_cast<T>(0.5 + 1.5 * k / points);
    if (x == 1) continue;
    ASSERT_LT(relative_error(log_of<T>(x), std::log(static_cast<long double>(x))), 2) << x;
  }
}

TYPED_TEST(VectorFunctions, LogAddsPowersOfTwo) {
  using T = TypeParam;
  const T ln2 = static_cast<T>(std::log(2.L));
  for (const int n : {-100000, -50, 1, 300}) {
    const Integers<T> exponent = Integers<T>{} + n;
    const T sum = log<T>(everywhere(T(1.5)), exponent)[0];
    EXPECT_NEAR(sum, T(n) * ln2 + std::log(T(1.5)),
                std::abs(sum) * 2 * std::numeric_limits<T>::epsilon())
        << n;
  }
}

TYPED_TEST(VectorFunctions, AtLeastReplacesNotANumber) {
  using T = TypeParam;
  EXPECT_EQ(at_least<T>(everywhere(std::numeric_limits<T>::quiet_NaN()), T(3))[0], T(3));
  EXPECT_EQ(at_least<T>(everywhere(T(2)), T(3))[0], T(3));
  EXPECT_EQ(at_least<T>(everywhere(T(4)), T(3))[0], T(4));
}

TYPED_TEST(VectorFunctions, InverseRootIsWithinTwoUnits) {
  using T = TypeParam;
  constexpr int points = 200003;
  for (int k = 1; k <= points; ++k) {
    const T x = static_cast<T>(std::exp(-60. + 120. * k / points));
    ASSERT_LT(relative_error(inverse_root<T>(everywhere(x))[Lanes<T>::count - 1],
                             1 / std::sqrt(static_cast<long double>(x))),
              2)
        << x;
  }
}

TYPED_TEST(VectorFunctions, TransposeMakesColumnsOfRows) {
  using T = TypeParam;
  constexpr int count = Lanes<T>::count;
  Vector<T> rows[count];
  for (int r = 0; r < count; ++r)
    for (int c = 0; c < count; ++c) rows[r][c] = T(100 * r + c);
  transpose<T>(rows);
  for (int r = 0; r < count; ++r)
    for (int c = 0; c < count; ++c) ASSERT_EQ(rows[r][c], T(100 * c + r)) << r << ' ' << c;
}

}  // namespace
}  // namespace holdfast::host::HOLDFAST_ISA
