// SPDX-License-Identifier: Apache-2.0
// Golden values of an independent implementation, for both host variants: `random` at n = 8 unless
// said.
#include "cubed_sphere_swe/cubed_sphere_swe.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "cubed_sphere_swe/problem/diagnostics.hpp"
#include "cubed_sphere_swe/problem/sphere.hpp"
#include "cubed_sphere_swe/testing/support.hpp"
#include "cubed_sphere_swe/variants.hpp"

namespace holdfast::cubed_sphere_swe {
namespace {

constexpr double golden = 1e-13;

constexpr int n = 8;
int at_h(int panel, int i, int j) {
  return height_index(n, panel, i, j);
}

void expect_point(const std::vector<double>& field, int index, double expected) {
  expect_golden("a point", field[index], expected, field);
}
void expect_norm(const std::vector<double>& field, double expected) {
  expect_golden("norm", norm(field), expected, field);
}

class Golden : public ::testing::TestWithParam<Variant> {
 protected:
  std::unique_ptr<Backend> backend = open_backend("host");
};
INSTANTIATE_TEST_SUITE_P(Host, Golden, ::testing::Values(Variant::reference, Variant::optimized),
                         [](const auto& which) {
                           return which.param == Variant::reference ? "Reference" : "Optimized";
                         });

TEST_P(Golden, Tendency) {
  expect_golden(golden_tendency(state_after(make_rhs(*backend, GetParam(), {n}), {n})));
}

TEST_P(Golden, OneStep) {
  expect_golden(golden_step(state_after(make_rk4_step(*backend, GetParam(), {n}), {n})));
}

TEST_P(Golden, TenSteps) {
  expect_golden(golden_ten_steps(state_after(make_rk4_step(*backend, GetParam(), {n}), {n}, 10)));
}

TEST_P(Golden, UpstreamsMetricSign) {
  const Options options = {.q12 = MetricSign::upstream};
  expect_norm(state_after(make_rhs(*backend, GetParam(), {n}, options), {n}).h, 177.3944206342172);
  expect_norm(state_after(make_rk4_step(*backend, GetParam(), {n}, options), {n}, 10).h,
              15.087629290361821);
}

TEST_P(Golden, HundredStepsOfTheSeedsBump) {
  const Size size = {24};
  const State start = initial_state(size, Start::seed);
  EXPECT_NEAR(energy(size, start), 1.3926346982066564e-05, golden * 1.4e-5);
  const State y = state_after(
      make_loop(*backend, GetParam(), size, {.start = Start::seed, .steps = 100}), size);
  EXPECT_NEAR(mass(size, y.h), 0.0054881375423630916, golden * 0.0055);
  EXPECT_NEAR(energy(size, y), 1.392634582280054e-05, golden * 1.4e-5);
  double highest = 0;
  for (const double h : y.h) highest = std::max(highest, h);
  EXPECT_NEAR(highest, 0.0021758565211676788, golden * highest);
  EXPECT_NEAR(y.h[height_index(24, 0, 12, 12)], -0.00035103128373003298, golden * highest);
  expect_norm(y.v1, 0.0095324677587784162);
}

TEST(GoldenState, MassAndEnergy) {
  const State start = initial_state({n}, Start::random);
  EXPECT_NEAR(mass({n}, start.h), 0.28965788555842337, golden);
  EXPECT_NEAR(energy({n}, start), 7.3097417590024758, golden * 7.3);
}

class GoldenIntermediates : public ::testing::Test {
 protected:
  static Intermediates of(const State& start, MetricSign q12 = MetricSign::correct, int size = n) {
    const auto backend = open_backend("host");
    return isa_v3::reference_intermediates(
        *backend, {.n = size, .dt = 1. / (3 * size), .options = {.q12 = q12}, .start = start});
  }
  Intermediates all = of(initial_state({n}, Start::random));
};

TEST_F(GoldenIntermediates, ProjectedHeight) {
  expect_golden("sum", sum(all.projected), 6.5938016787464653, all.projected);
  expect_point(all.projected, at_h(0, 0, 0), -0.11306092794931044);
  expect_point(all.projected, at_h(0, 0, 3), -0.14500880271374084);
  expect_point(all.projected, at_h(1, 3, 8), -0.38179167656033686);
}

TEST_F(GoldenIntermediates, SequentialProjectionEqualsTheTables) {
  EXPECT_EQ(all.projected, project(n, initial_state({n}, Start::random).h));
}

TEST_F(GoldenIntermediates, ContravariantVelocity) {
  expect_norm(all.up1, 16.968878224763166);
  expect_norm(all.up2, 17.168236305876164);
  expect_point(all.up1, v1_golden_index(0, 0, 0), -0.47715653951607589);
  expect_point(all.up2, v2_golden_index(1, 8, 7), -0.45012644327329865);
}

TEST_F(GoldenIntermediates, Divergence) {
  expect_norm(all.divergence, 248.86911255979186);
  EXPECT_NEAR(sum(all.divergence), 15.659106387906107, golden * 249);
  expect_point(all.divergence, at_h(0, 0, 0), -4.9546136615282617);
  expect_point(all.divergence, at_h(2, 4, 4), -1.2785612479128039);
}

TEST_F(GoldenIntermediates, PenalisedDivergence) {
  expect_norm(all.penalised, 203.22540034099487);
  expect_point(all.penalised, at_h(0, 0, 0), -18.943886484837392);
  expect_point(all.penalised, at_h(0, 3, 8), 29.811418640920454);
  expect_point(all.penalised, at_h(1, 5, 8), -20.032257353334128);
  expect_point(all.penalised, at_h(4, 8, 2), 2.9697710430040729);
}

TEST_F(GoldenIntermediates, ConsensusFlux) {
  const double expected[2][3] = {{1.3145524813868505, 1.5244786039023248, -2.9563077996132789},
                                 {1.6774159252043728, -0.28204390180553723, -0.073211028832685557}};
  const int k[3] = {0, 3, 8};
  for (int edge = 0; edge < 2; ++edge)
    for (int i = 0; i < 3; ++i)
      expect_point(all.consensus, edge * (n + 1) + k[i], expected[edge][i]);
}

// The published logs of the upstream program, with its wrong sign of Q12.
TEST_F(GoldenIntermediates, UpstreamsLogOfABumpOnOnePanel) {
  const Size size = {16};
  const Options options = {.q12 = MetricSign::upstream, .dt = 0.3 * std::numbers::pi / 32};
  const auto backend = open_backend("host");
  const auto run = make_rk4_step(*backend, Variant::optimized, size, options,
                                 panel_bump(size, 1, std::sqrt(1. / 32)));
  const State one = as_state(size, result_of(*run));
  const State k = state_after(make_rhs(*backend, Variant::reference, size, options, one), size);
  const Intermediates inside = of(one, MetricSign::upstream, 16);
  EXPECT_NEAR(norm(k.h), 4.171577436325561, 1e-12);
  EXPECT_NEAR(sum(k.h), 1.175280306079398, 1e-12);
  EXPECT_NEAR(norm(inside.up1), 0.3717902027393896, 1e-12);
  EXPECT_NEAR(sum(inside.divergence), 0.48338176586738, 1e-12);
  const double expected[] = {0.20720, 0.16873, 0.20760, 0.58404};
  int steps = 1;
  for (const double highest : expected) {
    do run->step();
    while (++steps % 25 != 0);
    EXPECT_NEAR(largest(as_state(size, run->result()).h), highest, 0.5e-5) << steps;
  }
}

}  // namespace
}  // namespace holdfast::cubed_sphere_swe
