// SPDX-License-Identifier: Apache-2.0
// The host's watch over the mass, compiled here for the instruction set of the tests.
#define HOLDFAST_ISA isa_test
#include "cubed_sphere_swe/problem/host_mass.hpp"

#include <gtest/gtest.h>

namespace holdfast::cubed_sphere_swe::HOLDFAST_ISA {
namespace {

constexpr int n = 21;

// h times J Hv Hv, added up one by one and compensated.
double mass_one_by_one(const std::vector<double>& h) {
  const std::vector<double> j = metric_tables(n, MetricSign::correct).j, along = vertex_weights(n);
  Sum all;
  for (std::size_t k = 0; k < h.size(); ++k) {
    const std::size_t at = k % j.size();
    all.add(h[k] * (j[at] * (along[at / along.size()] * along[at % along.size()])));
  }
  return all.value();
}

// Two values that nearly cancel: until the second is added, a plain sum rounds all others to 1e-8.
// Powers of two make their products exact. The two lie in different rows and vector lanes.
TEST(MassWatch, LosesNothingBesideLargeValuesThatCancel) {
  const std::vector<double> start = initial_state({n}, Start::random).h;
  std::vector<double> h = start;
  h[height_index(n, 2, 3, 5)] = 0x1p40;
  h[height_index(n, 2, 5, 3)] = -0x1p40;
  const auto backend = open_backend("host");
  MassWatch<double> watch(*backend, n, 1, panels, start.data());
  for (int panel = 0; panel < panels; ++panel) watch.form(0, panel, h.data(), panel, 0, n + 1);
  watch.judge(1);
  const double expected = relative_drift(mass_one_by_one(h), mass_one_by_one(start));
  EXPECT_GT(expected, 1e-6);
  EXPECT_NEAR(watch.drift(), expected, 1e-12 * expected);
}

TEST(MassWatch, KeepsTheDriftOfTheWorstStepAfterBetterOnes) {
  const std::vector<double> start = initial_state({n}, Start::face).h;
  std::vector<double> worse = start;
  worse[height_index(n, 1, 4, 7)] += 1;
  const auto backend = open_backend("host");
  MassWatch<double> watch(*backend, n, 2, panels, start.data());
  for (const int step : {0, 1})
    for (int panel = 0; panel < panels; ++panel)
      watch.form(step, panel, (step == 0 ? worse : start).data(), panel, 0, n + 1);
  watch.judge(2);
  const double expected = relative_drift(mass_one_by_one(worse), mass_one_by_one(start));
  EXPECT_GT(expected, 1e-6);
  EXPECT_NEAR(watch.drift(), expected, 1e-12 * expected);
}

}  // namespace
}  // namespace holdfast::cubed_sphere_swe::HOLDFAST_ISA
