// SPDX-License-Identifier: Apache-2.0
// The finest grid of convergence_slow_test.cpp, 14400 steps each: the last published orders.
#include <gtest/gtest.h>

#include <cmath>

#include "cubed_sphere_swe/testing/convergence.hpp"

namespace holdfast::cubed_sphere_swe {
namespace {

// Errors at n = 192, and the orders from n = 96 on, at T = 25.
struct Row {
  Start start;
  double l2, max, l2_at_96, max_at_96, l2_order, max_order;
};

class FineConvergence : public ::testing::TestWithParam<Row> {};
INSTANTIATE_TEST_SUITE_P(
    Bumps, FineConvergence,
    ::testing::Values(Row{Start::face, 6.6329e-6, 2.5774e-5, 1.2214e-4, 4.1186e-4, 4.20, 4.00},
                      Row{Start::vertex, 3.9794e-6, 1.7541e-5, 5.5358e-5, 2.2031e-4, 3.80, 3.65}));

TEST_P(FineConvergence, ErrorIsThePublishedOne) {
  const Row& row = GetParam();
  const Deviation error = error_at({192}, row.start, 25);
  EXPECT_NEAR(error.l2 / row.l2, 1, 0.01);
  EXPECT_NEAR(error.max / row.max, 1, 0.01);
  EXPECT_NEAR(std::log2(row.l2_at_96 / error.l2), row.l2_order, 0.02);
  EXPECT_NEAR(std::log2(row.max_at_96 / error.max), row.max_order, 0.02);
}

}  // namespace
}  // namespace holdfast::cubed_sphere_swe
