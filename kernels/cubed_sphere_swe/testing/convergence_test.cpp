// SPDX-License-Identifier: Apache-2.0
// Against the exact solution: the only test that detects a wrong sign of Q12.
#include <gtest/gtest.h>

#include <cmath>

#include "cubed_sphere_swe/testing/convergence.hpp"

namespace holdfast::cubed_sphere_swe {
namespace {

struct Row {
  Start start;
  double l2[3], max[3];  // n = 12, 24, 48 at T = 1
  double tolerance;
};

class Convergence : public ::testing::TestWithParam<Row> {};
INSTANTIATE_TEST_SUITE_P(Bumps, Convergence,
                         ::testing::Values(Row{Start::face,
                                               {1.8940e-2, 2.5533e-3, 1.5757e-4},
                                               {2.3192e-2, 3.1653e-3, 1.9185e-4},
                                               0.01},
                                           Row{Start::vertex,
                                               {8.4729e-3, 7.3122e-4, 4.4903e-5},
                                               {1.0757e-2, 1.0579e-3, 1.1947e-4},
                                               0.01},
                                           Row{Start::tilt,
                                               {1.2398e-2, 1.6100e-3, 9.5068e-5},
                                               {2.5443e-2, 4.2240e-3, 2.5894e-4},
                                               0.01}));

TEST_P(Convergence, ErrorsAtTimeOneArePublishedOnes) {
  const Row& row = GetParam();
  double previous = 0, order = 0;
  for (int k = 0; k < 3; ++k) {
    const Deviation error = error_at({12 << k}, row.start, 1);
    EXPECT_NEAR(error.l2 / row.l2[k], 1, row.tolerance);
    EXPECT_NEAR(error.max / row.max[k], 1, row.tolerance);
    order = std::log2(previous / error.l2);
    previous = error.l2;
  }
  EXPECT_GE(order, 3.8);
}

TEST(ModeConvergence, ErrorsOfTheFirstModeArePublishedOnes) {
  const double expected[] = {2.0688e-4, 2.0989e-5, 2.0553e-6};
  for (int k = 0; k < 3; ++k)
    EXPECT_NEAR(error_at({12 << k}, Start::mode1, 1).l2 / expected[k], 1, 0.01);
}

TEST(ModeConvergence, ErrorsOfTheSecondModeArePublishedOnes) {
  const double expected[] = {1.29068e-3, 9.4261e-5, 8.7494e-6};
  for (int k = 0; k < 3; ++k)
    EXPECT_NEAR(error_at({12 << k}, Start::mode2, 1).l2 / expected[k], 1, 0.01);
}

// With the published program's sign the error does not decrease at all: this test keeps anyone from
// "restoring" it. convergence_slow_test.cpp has its published errors.
TEST(UpstreamsSign, DoesNotConverge) {
  const auto order = [](MetricSign sign) {
    return std::log2(error_at({12}, Start::face, 5, sign).l2 /
                     error_at({24}, Start::face, 5, sign).l2);
  };
  EXPECT_LT(order(MetricSign::upstream), 0.1);
  EXPECT_GT(order(MetricSign::correct), 1);
}

}  // namespace
}  // namespace holdfast::cubed_sphere_swe
