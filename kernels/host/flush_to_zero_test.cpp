// SPDX-License-Identifier: Apache-2.0
#include "host/flush_to_zero.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace holdfast {
namespace {

// Through memory, so that the compiler cannot evaluate it.
template <class T>
T half_of_the_least_normal() {
  volatile T x = std::numeric_limits<T>::min();
  return x / 2;
}
float least_denormal_enlarged() {
  volatile float x = std::numeric_limits<float>::denorm_min();
  return x * 0x1p100f;
}

TEST(FlushToZero, TakesDenormalResultsAndOperandsForZeroWhileItLives) {
  EXPECT_GT(half_of_the_least_normal<float>(), 0);
  EXPECT_GT(least_denormal_enlarged(), 0);
  {
    const FlushToZero<float> flush;
    EXPECT_EQ(half_of_the_least_normal<float>(), 0);
    EXPECT_EQ(least_denormal_enlarged(), 0);
  }
  EXPECT_GT(half_of_the_least_normal<float>(), 0);
  EXPECT_GT(least_denormal_enlarged(), 0);
}

TEST(FlushToZero, OfDoubleLeavesDoubleExact) {
  const FlushToZero<double> flush;
  EXPECT_GT(half_of_the_least_normal<double>(), 0);
  EXPECT_GT(half_of_the_least_normal<float>(), 0);
}

TEST(FlushToZero, NestsAndGivesBackWhatItFound) {
  const FlushToZero<float> outer;
  { const FlushToZero<float> inner; }
  EXPECT_EQ(half_of_the_least_normal<float>(), 0);
}

}  // namespace
}  // namespace holdfast
