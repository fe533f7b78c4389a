// SPDX-License-Identifier: Apache-2.0
// The published numbers, computed alike by numpy and C++.
#include "xpcs_fit/oracle/oracle.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "runtime/device_code/random.hpp"
#include "xpcs_fit/data/data.hpp"
#include "xpcs_fit/oracle/distance.hpp"
#include "xpcs_fit/oracle/golden.hpp"
#include "xpcs_fit/problem/model.hpp"
#include "xpcs_fit/testing/support.hpp"

namespace holdfast::xpcs_fit {
namespace {

#define EXPECT_RELATIVE(value, golden, allowed) \
  EXPECT_NEAR((value) / (golden), 1, allowed) << (value) << " for " << (golden)

double sum(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.);
}

TEST(XpcsData, IsTheGeneratorsKnownAnswer) {
  EXPECT_EQ(philox4x32_10({{0, 0, 0, 0}}, 0, 0).word[0], 0x6627e8d5U);
  const Philox4x32 five = philox4x32_10({{5, 0, 0, 0}}, 20251022, 0);
  EXPECT_EQ(five.word[0], 0xb53538aeU);
  EXPECT_EQ(five.word[3], 0xb2195badU);
  EXPECT_EQ(noise(0, 20251022, 0), 0.19744777248756357);
  EXPECT_EQ(noise(1, 20251022, 0), 0.41791998540079855);
  EXPECT_EQ(noise(2, 20251022, 0), 0.09310480226073731);
  EXPECT_EQ(noise(3, 20251022, 0), -0.6505515113851165);
  EXPECT_EQ(noise((std::uint64_t{1} << 32) + 5, 20251022, 0), 1.3887081621219923);
}

TEST(XpcsData, HasThePublishedSums) {
  const auto input = make_input({.size = {3, 8}, .physics = {.dt = 1}}, {});
  EXPECT_RELATIVE(sum(input->data), 222.62408443073215, 1e-14);
  EXPECT_RELATIVE(input->data.front(), 1.3025668210423353, 1e-15);
  EXPECT_RELATIVE(input->data.back(), 1.2956891277622595, 1e-15);
  const Recipe s = {.size = size_of(NamedSize::s),
                    .physics = default_physics(size_of(NamedSize::s))};
  EXPECT_RELATIVE(sum(make_input(s, {})->data), 909128.576863877, 1e-12);
  EXPECT_RELATIVE(sum(make_input(s, {.mode = Mode::at_rest})->data), 928163.9927073418, 1e-12);
}

// Which patterns relax towards.
TEST(XpcsData, HaveTheModelOfTheOracle) {
  for (const Mode mode : {Mode::at_rest, Mode::laminar}) {
    const Problem one = problem({3, 37}, {.mode = mode});
    const std::vector<double> own = start_model(one),
                              expected = oracle::model(one, one.input->box.start);
    ASSERT_EQ(own.size(), expected.size());
    for (std::size_t k = 0; k < own.size(); ++k) ASSERT_NEAR(own[k], expected[k], 1e-14) << k;
  }
}

TEST(XpcsOracle, IntegratesRates) {
  const Options options;
  const std::vector<double> known = truth(options, 1);
  const Frames all = frames({.dt = 1}, 8, Mode::laminar, known.data());
  EXPECT_RELATIVE(all.s[0], -550.005000025, 1e-14);
  EXPECT_EQ(all.s[1], 0);
  const double later[] = {1257.1067812292251, 2880.238966232323, 4796.264370043696,
                          6964.298358817271,  9357.077218980143, 11954.697745923682};
  for (int i = 2; i < 8; ++i) EXPECT_RELATIVE(all.s[i], later[i - 2], 1e-14);
  EXPECT_RELATIVE(all.q[7], 0.002073214317506838, 1e-14);
  EXPECT_RELATIVE(all.q[0], -0.00025, 1e-14);
  EXPECT_RELATIVE(all.s_by[1][7], 16217.605351230985, 1e-13);
  EXPECT_RELATIVE(all.s_by[1][0], 0.11512920464969816, 1e-13);
  EXPECT_RELATIVE(all.q_by[1][7], 0.002380364470561791, 1e-13);
  EXPECT_RELATIVE(Physics{}.kappa(), 1.4580000000000001e-05, 1e-15);
  EXPECT_RELATIVE(Physics{}.flow(), 1718.8733853924698, 1e-15);
}

TEST(XpcsOracle, HasThePublishedModel) {
  const Problem tiny = problem({3, 8}, {}, {.dt = 1});
  const std::vector<double> m = oracle::model(tiny, truth({}, 3));
  const auto at = [&](int a, int i, int j) { return m[(a * 8 + i) * 8 + j]; };
  EXPECT_RELATIVE(at(0, 0, 0), 1.2999999999999972, 1e-14);
  EXPECT_RELATIVE(at(0, 0, 1), 1.2829079838139577, 1e-14);
  EXPECT_RELATIVE(at(0, 1, 4), 1.1429548038441832, 1e-14);
  EXPECT_RELATIVE(at(1, 2, 3), 1.236225886049246, 1e-14);
  EXPECT_RELATIVE(at(1, 0, 7), 1.000248190677411, 1e-14);
  EXPECT_RELATIVE(at(2, 6, 7), 1.2639192176580187, 1e-14);
  EXPECT_RELATIVE(at(2, 7, 2), 1.0717969401289102, 1e-14);
  EXPECT_RELATIVE(sum(m), 222.54770641604057, 1e-14);
  EXPECT_RELATIVE(std::inner_product(m.begin(), m.end(), m.begin(), 0.), 260.0987939547124, 1e-14);

  const Options still = {.mode = Mode::at_rest};
  const Problem rest = problem({3, 8}, still, {.dt = 1});
  const std::vector<double> flat = oracle::model(rest, truth(still, 3));
  EXPECT_RELATIVE(flat[1], 1.2952269341339908, 1e-14);
  EXPECT_RELATIVE(flat[1 * 8 + 4], 1.2608442290594761, 1e-14);
  EXPECT_RELATIVE(sum(flat), 242.36203000155277, 1e-14);
  const std::vector<double> steep = oracle::model(rest, {0.3, 1, 1e4, -1.5, 0});
  EXPECT_RELATIVE(steep[1 * 8 + 2], 1.2462714518410796, 1e-14);
  EXPECT_RELATIVE(steep[1 * 8 + 7], 1.2020515849824054, 1e-14);
  EXPECT_EQ(steep[3], 1);
  const std::vector<double> diffuse = oracle::model(rest, {0.3, 1, 1000, 0, 0});
  EXPECT_RELATIVE(diffuse[5], 1.2592991656028758, 1e-14);
}

TEST(XpcsOracle, HasThePublishedDerivatives) {
  const Problem tiny = problem({3, 8}, {}, {.dt = 1});
  const std::vector<double> row = oracle::jacobian(tiny, tiny.input->box.start, 2, 2, 5);
  for (int k = 0; k < 9; ++k) EXPECT_RELATIVE(row[k], golden::jacobian_2_2_5[k], 1e-12);
}

// The error of each parameter's derivatives is relative to the largest of them over all points.
TEST(XpcsOracle, DerivativesAreCentralDifferencesOfTheModel) {
  for (const Mode mode : {Mode::at_rest, Mode::laminar})
    for (const Scaling scaling : {Scaling::shared, Scaling::per_angle}) {
      const Problem tiny = problem({3, 8}, {.mode = mode, .scaling = scaling}, {.dt = 1});
      const std::vector<double> start = tiny.input->box.start;
      for (std::size_t k = 0; k < start.size(); ++k) {
        const double h = start[k] == 0 ? 1e-3 : 1e-5 * std::abs(start[k]);
        std::vector<double> up = start, down = start;
        up[k] += h, down[k] -= h;
        const std::vector<double> above = oracle::model(tiny, up),
                                  below = oracle::model(tiny, down);
        double largest = 0, error = 0;
        for (std::size_t point = 0; point < above.size(); ++point) {
          const int a = int(point / 64), i = int(point / 8 % 8), j = int(point % 8);
          const double derivative = oracle::jacobian(tiny, start, a, i, j)[k];
          largest = std::max(largest, std::abs(derivative));
          error = std::max(error, std::abs(derivative - (above[point] - below[point]) / (2 * h)));
        }
        EXPECT_GT(largest, 0) << k;
        EXPECT_LT(error, 5e-7 * largest) << k;
      }
    }
}

TEST(XpcsOracle, HasThePublishedNormalEquations) {
  const Problem tiny = problem({3, 8}, {}, {.dt = 1});
  const oracle::Normal n = oracle::normal_equations(tiny, tiny.input->box.start);
  EXPECT_RELATIVE(n.cost, golden::cost, 1e-13);
  for (int k = 0; k < 9; ++k) {
    EXPECT_RELATIVE(n.matrix[k * 10], golden::diagonal[k], 1e-12);
    EXPECT_RELATIVE(n.gradient[k], golden::gradient[k], 1e-11);
  }
  EXPECT_RELATIVE(n.matrix[2], -0.0015028010296930512, 1e-12);
  EXPECT_RELATIVE(n.matrix[3 * 9 + 6], 1.3503470528267711, 1e-12);
  EXPECT_RELATIVE(n.matrix[9 + 7], -85800.34476380952, 1e-12);

  const Problem robust = problem({3, 8}, {.loss = Loss::soft_l1, .loss_scale = 0.1}, {.dt = 1});
  const oracle::Normal soft = oracle::normal_equations(robust, robust.input->box.start);
  EXPECT_RELATIVE(soft.cost, 1.575251183500001, 1e-13);
  EXPECT_RELATIVE(soft.matrix[0], 7.284436965858814, 1e-12);
  EXPECT_RELATIVE(soft.matrix[1 * 9 + 1], 59.23819729474565, 1e-12);
  EXPECT_RELATIVE(soft.gradient[0], 8.400337462454825, 1e-12);
  EXPECT_RELATIVE(soft.gradient[1], 14.115681084474552, 1e-12);
}

// F = 2, g = (1, 1), N = ((4, 1), (1, 9)): each entry relative to the size its terms can have.
TEST(XpcsOracle, SeesEachOfTheNormalEquationsByItsOwnSize) {
  const std::vector<double> expected = {2, 1, 1, 4, 1, 1, 9}, sizes = {2, 4, 6, 4, 6, 6, 9};
  EXPECT_EQ(oracle::distance(expected, expected), 0);
  for (std::size_t k = 0; k < expected.size(); ++k) {
    std::vector<double> found = expected;
    for (const double sign : {-1., 1.}) {
      found[k] = expected[k] + sign * 0.125 * sizes[k];
      EXPECT_DOUBLE_EQ(oracle::distance(found, expected), 0.125) << k;
    }
    found[k] = NAN;
    EXPECT_EQ(oracle::distance(found, expected), INFINITY) << k;
  }
  EXPECT_EQ(oracle::distance({2, 1, 4}, expected), INFINITY);
}

// N^-1 is {3, -2; -2, 4} / 8, and s^2 = 2 F / 4 is 4.
TEST(XpcsOracle, HasDeviationsByTheInverseOfTheMatrix) {
  const std::vector<double> sigma = oracle::find_sigma({4, 2, 2, 3}, 8, 4);
  ASSERT_EQ(sigma.size(), 2u);
  EXPECT_RELATIVE(sigma[0], std::sqrt(1.5), 1e-15);
  EXPECT_RELATIVE(sigma[1], std::sqrt(2.), 1e-15);
}

// Parameters agree as closely as two programs' solvers end.
void expect_parameters(const oracle::Fit& fit, const std::vector<double>& published) {
  for (std::size_t k = 0; k < published.size(); ++k)
    EXPECT_NEAR(fit.parameters[k], published[k], 1e-4 * fit.sigma[k]) << "parameter " << k;
}

TEST(XpcsOracle, FindsThePublishedMinimumOfASampleAtRest) {
  const Problem rest = problem({4, 48}, {.mode = Mode::at_rest}, {.dt = 100. / 48}, 0.001);
  const double path[] = {50.69248537770979, 0.34960274170941963, 0.009998515692594875,
                         0.004921118079071224, 0.004920166150213934};
  const oracle::Fit fit = oracle::fit(rest);
  EXPECT_EQ(fit.passes, 5);
  EXPECT_EQ(fit.status, 5);
  ASSERT_EQ(fit.path.size(), 5u);
  for (int k = 0; k < 5; ++k) EXPECT_RELATIVE(fit.path[k], path[k], 1e-9);
  expect_parameters(fit, {0.300056459614809, 1.0000060322624469, 1005.4585958494799,
                          0.49903694537876714, 42.456262334390395});
  const double sigma[] = {5.946e-05, 1.342e-05, 5.607, 1.0855e-03, 9.732};
  for (int k = 0; k < 5; ++k) EXPECT_RELATIVE(fit.sigma[k], sigma[k], 1e-3);
}

TEST(XpcsOracle, FindsThePublishedMinimumAtABound) {
  const Problem flow = problem({4, 48}, {}, {.dt = 100. / 48}, 0.001);
  const oracle::Fit fit = oracle::fit(flow);
  EXPECT_EQ(fit.passes, 7);
  EXPECT_RELATIVE(fit.path.front(), 24.53450071889686, 1e-12);
  EXPECT_RELATIVE(fit.cost, 0.00469107148450051, 1e-9);
  EXPECT_EQ(fit.parameters[4], 0);
  expect_parameters(fit, {0.29995603767546436, 0.9999914034763191, 991.5970290084895,
                          0.5039884782573918, 0, 0.00020405434859898535, 0.29585419807011515,
                          4.6738859518932386e-05, -6.001209183222045});
  EXPECT_RELATIVE(fit.sigma[8], 0.013428, 1e-3);
}

TEST(XpcsOracle, GoesOnForSoManyPasses) {
  const Problem flow = problem({4, 48}, {}, {.dt = 100. / 48}, 0.01);
  const oracle::Fit fit = oracle::fit(flow, 8);
  EXPECT_EQ(fit.passes, 8);
  EXPECT_RELATIVE(fit.cost, 0.469296900405515, 1e-9);
  EXPECT_NEAR(fit.parameters[3], 0.583564615671, 1e-4 * fit.sigma[3]);
}

TEST(XpcsOracle, GivesEachAngleItsContrast) {
  const Problem flow = problem({4, 48}, {.scaling = Scaling::per_angle}, {.dt = 100. / 48}, 0.001);
  const oracle::Fit fit = oracle::fit(flow);
  EXPECT_EQ(fit.passes, 7);
  EXPECT_RELATIVE(fit.cost, 0.004689690263350897, 1e-9);
  expect_parameters(
      fit, {0.29993705510491714, 0.2998343609190953, 0.2999699768781852, 0.3000778342444053});
}

}  // namespace
}  // namespace holdfast::xpcs_fit
