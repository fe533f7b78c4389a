// SPDX-License-Identifier: Apache-2.0
// The long runs and the fine grids of convergence_test.cpp.
#include <gtest/gtest.h>

#include <cmath>

#include "cubed_sphere_swe/testing/convergence.hpp"

namespace holdfast::cubed_sphere_swe {
namespace {

struct Row {
  Start start;
  double t;
  int n;
  double l2, max;
};

class LongConvergence : public ::testing::TestWithParam<Row> {};
INSTANTIATE_TEST_SUITE_P(Bumps, LongConvergence,
                         ::testing::Values(Row{Start::face, 1, 96, 7.2615e-6, 1.1066e-5},
                                           Row{Start::vertex, 1, 96, 3.0704e-6, 1.2983e-5},
                                           Row{Start::tilt, 1, 96, 4.6333e-6, 1.4405e-5},
                                           Row{Start::face, 25, 24, 3.4347e-2, 2.9021e-2},
                                           Row{Start::face, 25, 48, 2.4511e-3, 5.8840e-3},
                                           Row{Start::face, 25, 96, 1.2214e-4, 4.1186e-4},
                                           Row{Start::vertex, 25, 24, 1.4124e-2, 1.9630e-2},
                                           Row{Start::vertex, 25, 48, 7.8515e-4, 1.7370e-3},
                                           Row{Start::edge, 25, 24, 1.8703e-2, 3.7283e-2},
                                           Row{Start::edge, 25, 48, 1.0568e-3, 2.4547e-3}));
INSTANTIATE_TEST_SUITE_P(Nightly, LongConvergence,
                         ::testing::Values(Row{Start::vertex, 25, 96, 5.5358e-5, 2.2031e-4},
                                           Row{Start::edge, 25, 96, 5.3647e-5, 1.0301e-4}));

TEST_P(LongConvergence, ErrorIsThePublishedOne) {
  const Row& row = GetParam();
  const Deviation error = error_at({row.n}, row.start, row.t);
  EXPECT_NEAR(error.l2 / row.l2, 1, 0.01);
  EXPECT_NEAR(error.max / row.max, 1, 0.01);
}

TEST(UpstreamsSign, DoesNotConverge) {
  const double coarse = error_at({24}, Start::face, 25, MetricSign::upstream).l2;
  const double fine = error_at({48}, Start::face, 25, MetricSign::upstream).l2;
  EXPECT_NEAR(coarse, 2.0676e-1, 0.5e-5);
  EXPECT_NEAR(fine, 2.0563e-1, 0.5e-5);
  EXPECT_LT(std::log2(coarse / fine), 0.1);
}

TEST(NightlyUpstreamsSign, DoesNotConvergeOnAFineGridEither) {
  EXPECT_NEAR(error_at({96}, Start::face, 25, MetricSign::upstream).l2, 2.0563e-1, 0.5e-5);
}

// The last published orders: errors at n = 192, and the orders from n = 96 on, at T = 25.
struct FineRow {
  Start start;
  double l2, max, l2_at_96, max_at_96, l2_order, max_order;
};

class FineConvergence : public ::testing::TestWithParam<FineRow> {};
INSTANTIATE_TEST_SUITE_P(Nightly, FineConvergence,
                         ::testing::Values(FineRow{Start::face, 6.6329e-6, 2.5774e-5, 1.2214e-4,
                                                   4.1186e-4, 4.20, 4.00},
                                           FineRow{Start::vertex, 3.9794e-6, 1.7541e-5, 5.5358e-5,
                                                   2.2031e-4, 3.80, 3.65}));

TEST_P(FineConvergence, ErrorIsThePublishedOne) {
  const FineRow& row = GetParam();
  const Deviation error = error_at({192}, row.start, 25);
  EXPECT_NEAR(error.l2 / row.l2, 1, 0.01);
  EXPECT_NEAR(error.max / row.max, 1, 0.01);
  EXPECT_NEAR(std::log2(row.l2_at_96 / error.l2), row.l2_order, 0.02);
  EXPECT_NEAR(std::log2(row.max_at_96 / error.max), row.max_order, 0.02);
}

}  // namespace
}  // namespace holdfast::cubed_sphere_swe
