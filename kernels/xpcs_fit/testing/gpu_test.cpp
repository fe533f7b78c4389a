// SPDX-License-Identifier: Apache-2.0
// Both variants on a real GPU against the oracle.
#include <gtest/gtest.h>

#include <cmath>

#include "testing/differences.hpp"
#include "testing/gpu_main.hpp"
#include "xpcs_fit/oracle/distance.hpp"
#include "xpcs_fit/patterns.hpp"
#include "xpcs_fit/spectrum.hpp"
#include "xpcs_fit/strategies.hpp"
#include "xpcs_fit/testing/support.hpp"

namespace holdfast::xpcs_fit {
namespace {

// Larger than a grid of the device, and not a multiple of a block.
constexpr Size size = {5, 211};

class XpcsOnGpu : public testing::TestWithParam<Variant> {
 protected:
  std::vector<double> result(Unit unit, const Problem& problem) {
    return result_of(*make(unit, *backend, GetParam(), problem), 2);
  }

  std::unique_ptr<Backend> backend = open_backend("cuda");
};
INSTANTIATE_TEST_SUITE_P(Variants, XpcsOnGpu,
                         testing::Values(Variant::reference, Variant::optimized),
                         [](const auto& variant) {
                           return variant.param == Variant::reference ? "reference" : "optimized";
                         });

TEST_P(XpcsOnGpu, ComputesTheModelInBothPrecisions) {
  for (const Mode mode : {Mode::at_rest, Mode::laminar})
    for (const Precision precision : {Precision::f64, Precision::f32}) {
      const Problem one = problem(size, {.mode = mode, .precision = precision});
      EXPECT_LT(largest_difference(result(Unit::g2, one), oracle::model(one, one.input->box.start)),
                precision == Precision::f64 ? 2e-12 : 5e-6);
    }
}

TEST_P(XpcsOnGpu, ComputesNormalEquationsInEveryForm) {
  for (const Mode mode : {Mode::at_rest, Mode::laminar})
    for (const Scaling scaling : {Scaling::shared, Scaling::per_angle})
      for (const Loss loss : {Loss::linear, Loss::soft_l1})
        for (const Weights weights : {Weights::unit, Weights::array}) {
          const Problem one =
              problem(size, {.mode = mode, .scaling = scaling, .loss = loss, .weights = weights});
          EXPECT_LT(oracle::distance(
                        result(Unit::normal_equations, one),
                        oracle::in_a_row(oracle::normal_equations(one, one.input->box.start))),
                    1e-11);
        }
}

TEST_P(XpcsOnGpu, FitsAsTheOracleDoes) {
  const Problem one = problem({4, 48}, {}, 0.01);
  const std::vector<double> fit = result(Unit::converged_fit, one);
  EXPECT_EQ(fit[1], 6);
  EXPECT_EQ(fit[2], converged);
  EXPECT_NEAR(fit[0] / 0.4692969007797889, 1, 1e-9);
  EXPECT_NEAR(result(Unit::fit, one)[0] / 0.469296900405515, 1, 1e-9);
}

TEST_P(XpcsOnGpu, ComputesPatterns) {
  const Problem one = problem(size, {});
  for (const Pattern pattern :
       {Pattern::angle_loop, Pattern::costs, Pattern::chunks, Pattern::round_trip, Pattern::turns})
    expect_pattern(pattern, 11, *backend, GetParam(), one);
}

// Chunks that begin within a row, and batches of rows while the next are being copied.
TEST_P(XpcsOnGpu, FitsByEveryStrategy) {
  const Problem one = problem(size, {});
  const oracle::Fit expected = oracle::fit(one);
  for (const Strategy strategy :
       {Strategy::standard, Strategy::large, Strategy::chunked, Strategy::streaming})
    for (const DataSource source :
         {DataSource::resident, DataSource::host, DataSource::generated}) {
      const bool at_once = strategy <= Strategy::large;
      const bool made = source == DataSource::generated;
      if ((at_once && source != DataSource::resident) ||
          (made && (GetParam() == Variant::reference || strategy != Strategy::streaming)))
        continue;
      const std::vector<double> fit = result_of(
          *make_fit(*backend, GetParam(), one,
                    {.strategy = strategy, .source = source, .chunk = 10000, .passes = 0}),
          2);
      EXPECT_EQ(fit[1], expected.passes);
      EXPECT_NEAR(fit[0] / expected.cost, 1, 1e-9);
      expect_parameters(fit, expected, 1e-6);
    }
}

TEST_P(XpcsOnGpu, StreamsThroughFaultsToTheSameBits) {
  if (GetParam() == Variant::reference) GTEST_SKIP() << "the plain stream tolerates none";
  const Problem one = problem(size, {});
  const auto fit = [&](double probability) {
    return result_of(
        *make_stream(
            *backend, one,
            {.batch = 10000, .settings = {.retries = 20, .faults = {.probability = probability}}}),
        2);
  };
  EXPECT_EQ(fit(0.3), fit(0));
}

TEST_P(XpcsOnGpu, CountsFaultsAsPublished) {
  if (GetParam() == Variant::reference) GTEST_SKIP() << "the plain stream tolerates none";
  const Problem one = problem({4, 48}, {}, 0.01);
  const auto attempts = [&](const FaultPlan& faults) {
    const auto fit = make_stream(
        *backend, one, {.batch = 512, .order = BatchOrder::flat, .settings = {.faults = faults}});
    fit->step();
    return reading(*fit, "attempts");
  };
  EXPECT_EQ(attempts({}), 108);
  EXPECT_EQ(attempts({.probability = 0.05}), 113);
  EXPECT_EQ(attempts({.probability = 0.3}), 147);
  EXPECT_EQ(attempts({.permanent = {3}}), 105);
}

TEST_P(XpcsOnGpu, TransformsAsParsevalSays) {
  for (const int n : {7, 256, 1000})
    EXPECT_NEAR(result_of(*make_spectrum(n, *backend, GetParam()), 2).front() / exact_power(n), 1,
                1e-12);
}

TEST_P(XpcsOnGpu, GivesTheSameBitsEveryTime) {
  const Problem one = problem(size, {});
  EXPECT_EQ(result(Unit::fit, one), result(Unit::fit, one));
}

}  // namespace
}  // namespace holdfast::xpcs_fit

int main(int argc, char** argv) {
  return holdfast::gpu_main(argc, argv);
}
