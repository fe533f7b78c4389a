// SPDX-License-Identifier: Apache-2.0
// Functions of whole vectors against the library's in extended precision, in units in the last
// place of the exact value.
#define HOLDFAST_ISA isa_test
#include "host/functions.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace holdfast::host::HOLDFAST_ISA {
namespace {

template <class T>
long double units(T value, long double exact) {
  using Limits = std::numeric_limits<T>;
  if (exact == 0) return value == 0 ? 0 : INFINITY;
  const int exponent = std::max(std::ilogb(exact), Limits::min_exponent - 1);
  return std::abs(value - exact) / std::ldexp(1.L, exponent - (Limits::digits - 1));
}

// The largest error of function(x) against exact(x), for x within whole vectors.
template <class T, class Function, class Exact>
struct Farthest {
  Function function;
  Exact exact;
  long double most = 0;
  T at = 0;

  void see(double number) {
    const T x = static_cast<T>(number);
    const Vector<T> found = function(everywhere(x));
    const long double distance = units<T>(found[Lanes<T>::count - 1], exact((long double)x));
    if (distance <= most) return;
    most = distance;
    at = x;
  }
  void range(double from, double to, int points = 100003) {
    for (int k = 0; k <= points; ++k) see(from + (to - from) * k / points);
  }
  // Magnitudes of either sign, logarithmically spaced.
  void sizes(double from, double to, int points = 50021) {
    for (int k = 0; k <= points; ++k) {
      const double x = from * std::pow(to / from, double(k) / points);
      see(x);
      see(-x);
    }
  }
};
template <class T, class Function, class Exact>
Farthest<T, Function, Exact> farthest(Function function, Exact exact) {
  return {function, exact};
}

template <class T>
class HostFunctions : public testing::Test {
 public:
  static constexpr double infinity = std::numeric_limits<double>::infinity();
  static constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  static constexpr double least = std::numeric_limits<T>::min();
  static T exp_of(double x) { return exp<T>(everywhere(T(x)))[0]; }
  static T tanh_of(double x) { return tanh<T>(everywhere(T(x)))[0]; }
};
using BothTypes = testing::Types<float, double>;
TYPED_TEST_SUITE(HostFunctions, BothTypes);

TYPED_TEST(HostFunctions, ExpIsWithinTwoUnitsWhereItIsNormal) {
  using T = TypeParam;
  auto found =
      farthest<T>([](Vector<T> x) { return exp<T>(x); }, [](long double x) { return std::exp(x); });
  found.range(std::log(this->least), std::log(double(std::numeric_limits<T>::max())) - 1e-4);
  found.sizes(1e-30, 80);
  EXPECT_LT(found.most, 2) << found.at;
}

TYPED_TEST(HostFunctions, ExpEndsInNothingInInfinityAndInNoNumber) {
  EXPECT_EQ(this->exp_of(0), 1);
  for (const double x : {-750., -1e30, -this->infinity}) EXPECT_EQ(this->exp_of(x), 0) << x;
  for (const double x : {709.8, 1e30, this->infinity})
    EXPECT_EQ(this->exp_of(x), this->infinity) << x;
  EXPECT_TRUE(std::isnan(this->exp_of(this->nan)));
  const double denormal = std::log(this->least) - 3;
  EXPECT_LT(units(this->exp_of(denormal), std::exp((long double)TypeParam(denormal))), 2);
}

TYPED_TEST(HostFunctions, Exp2IsWithinTwoUnits) {
  using T = TypeParam;
  auto found = farthest<T>([](Vector<T> x) { return exp2<T>(x); },
                           [](long double x) { return std::exp2(x); });
  found.range(1 - Format<T>::bias, Format<T>::bias);
  EXPECT_LT(found.most, 2) << found.at;
}

TYPED_TEST(HostFunctions, LogIsWithinTwoUnits) {
  using T = TypeParam;
  auto found = farthest<T>([](Vector<T> x) { return log<T>(x, Integers<T>{}); },
                           [](long double x) { return std::log(x); });
  const double lowest = std::log(this->least);
  for (int k = 0; k < 200003; ++k) found.see(std::exp(lowest - 2 * lowest * k / 200003));
  found.range(0.5, 2, 200003);
  EXPECT_LT(found.most, 2) << found.at;
}

TYPED_TEST(HostFunctions, TanhIsWithinTwoUnitsAndOdd) {
  using T = TypeParam;
  auto found = farthest<T>([](Vector<T> x) { return tanh<T>(x); },
                           [](long double x) { return std::tanh(x); });
  found.range(-1, 1, 400009);
  found.sizes(1e-15, 40);
  EXPECT_LT(found.most, 2) << found.at;
  for (const double x : {0.3, 0.624, 0.626, 3., 1e6})
    EXPECT_EQ(this->tanh_of(-x), -this->tanh_of(x)) << x;
  EXPECT_EQ(this->tanh_of(-this->infinity), -1);
  EXPECT_EQ(this->tanh_of(1e30), 1);
  EXPECT_TRUE(std::signbit(this->tanh_of(-0.)));
  EXPECT_TRUE(std::isnan(this->tanh_of(this->nan)));
}

// In addition to evenly spaced values, those nearest to multiples of pi / 2, where a poor reduction
// loses all digits.
template <class Found>
void see_the_circle(Found& found) {
  found.range(-30, 30);
  found.sizes(1e-12, 0x1p20);
  for (int k = 1; k < 667543; k += 37) {
    found.see(k * 1.5707963267948966);
    found.see(-k * 1.5707963267948966);
  }
}

TYPED_TEST(HostFunctions, SineIsWithinTwoUnitsToTwoToTheTwenty) {
  using T = TypeParam;
  auto found = farthest<T>([](Vector<T> x) { return sine_cosine<T>(x).sine; },
                           [](long double x) { return std::sin(x); });
  see_the_circle(found);
  EXPECT_LT(found.most, 2) << found.at;
}

TYPED_TEST(HostFunctions, CosineIsWithinTwoUnitsToTwoToTheTwenty) {
  using T = TypeParam;
  auto found = farthest<T>([](Vector<T> x) { return sine_cosine<T>(x).cosine; },
                           [](long double x) { return std::cos(x); });
  see_the_circle(found);
  EXPECT_LT(found.most, 2) << found.at;
}

}  // namespace
}  // namespace holdfast::host::HOLDFAST_ISA
