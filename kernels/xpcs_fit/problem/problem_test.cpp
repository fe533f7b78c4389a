// SPDX-License-Identifier: Apache-2.0
#include "xpcs_fit/problem/problem.hpp"

#include <cmath>

#include "xpcs_fit/problem/formulas.hpp"
#include "xpcs_fit/testing/support.hpp"

namespace holdfast::xpcs_fit {
namespace {

TEST(XpcsProblem, CountsParameters) {
  EXPECT_EQ(parameter_count({.mode = Mode::at_rest}, 10), 5);
  EXPECT_EQ(parameter_count({}, 10), 9);
  EXPECT_EQ(parameter_count({.scaling = Scaling::per_angle}, 64), 135);
}

// contrast_0, contrast_1, offset_0, offset_1, and the physical parameters.
TEST(XpcsProblem, GivesEachAngleAContrastAndAnOffset) {
  EXPECT_EQ(default_box({.mode = Mode::at_rest, .scaling = Scaling::per_angle}, 2).start,
            (std::vector<double>{0.5, 0.5, 1.05, 1.05, 1500, 0.3, 10}));
}

TEST(XpcsFormulas, TakeASineAndACosineOfLargePhases) {
  for (int k = 0; k < 56000; ++k) {
    const double x = -1048576 + 37.3 * k;
    const SineCosine64 both = sine_cosine(x);
    ASSERT_NEAR(both.sine, std::sin(x), 3e-16) << x;
    ASSERT_NEAR(both.cosine, std::cos(x), 3e-16) << x;
    const auto narrow = static_cast<float>(x / 1024);
    ASSERT_NEAR(sine_cosine(narrow).sine, std::sin(narrow), 2e-7) << x;
    ASSERT_NEAR(sine_cosine(narrow).cosine, std::cos(narrow), 2e-7) << x;
  }
}

}  // namespace
}  // namespace holdfast::xpcs_fit
