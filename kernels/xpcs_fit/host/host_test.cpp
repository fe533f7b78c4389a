// SPDX-License-Identifier: Apache-2.0
// Both variants on the host against the oracle.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "testing/differences.hpp"
#include "xpcs_fit/oracle/distance.hpp"
#include "xpcs_fit/problem/fit.hpp"
#include "xpcs_fit/testing/support.hpp"
#include "xpcs_fit/xpcs_fit.hpp"

namespace holdfast::xpcs_fit {
namespace {

constexpr Variant variants[] = {Variant::reference, Variant::optimized};
// A number of frames that is not a multiple of a vector, and several rows per block.
constexpr Size odd = {3, 37};

std::vector<double> result(Unit unit, Variant variant, const Problem& problem) {
  const auto backend = open_backend("host");
  return result_of(*make(unit, *backend, variant, problem));
}

TEST(XpcsHost, ComputesTheModel) {
  for (const Mode mode : {Mode::at_rest, Mode::laminar})
    for (const Precision precision : {Precision::f64, Precision::f32}) {
      const Problem one = problem(odd, {.mode = mode, .precision = precision});
      const std::vector<double> expected = oracle::model(one, one.input->box.start);
      for (const Variant variant : variants)
        EXPECT_LT(largest_difference(result(Unit::g2, variant, one), expected),
                  precision == Precision::f64 ? 2e-13 : 5e-6);
    }
}

TEST(XpcsHost, ComputesTheResidualAndItsCost) {
  for (const Mode mode : {Mode::at_rest, Mode::laminar}) {
    const Problem one = problem(odd, {.mode = mode});
    std::vector<double> expected = oracle::residual(one, one.input->box.start);
    const double cost = oracle::cost(one, one.input->box.start);
    for (const Variant variant : variants) {
      std::vector<double> r = result(Unit::residual, variant, one);
      EXPECT_NEAR(r.front() / cost, 1, 1e-12);
      r.erase(r.begin());
      EXPECT_LT(largest_difference(r, expected), 2e-13);
    }
  }
}

TEST(XpcsHost, BeginsAgainAtAnotherStart) {
  const auto backend = open_backend("host");
  for (const Unit unit : {Unit::g2, Unit::residual, Unit::normal_equations})
    for (const Variant variant : variants)
      for (const Scaling scaling : {Scaling::shared, Scaling::per_angle})
        expect_turns(unit, *backend, variant, problem(odd, {.scaling = scaling}));
}

class XpcsNormal : public testing::TestWithParam<Options> {};
INSTANTIATE_TEST_SUITE_P(Forms, XpcsNormal, testing::ValuesIn(every_form));

TEST_P(XpcsNormal, IsThatOfThePlainSum) {
  const Problem one = problem(odd, GetParam());
  const auto expected = oracle::in_a_row(oracle::normal_equations(one, one.input->box.start));
  for (const Variant variant : variants)
    EXPECT_LT(oracle::distance(result(Unit::normal_equations, variant, one), expected), 1e-11)
        << (variant == Variant::reference ? "reference" : "optimized");
}

// Residuals of a hundredth of the model keep four digits.
TEST(XpcsHost, KeepsInSinglePrecisionWhatThatLeaves) {
  for (const Mode mode : {Mode::at_rest, Mode::laminar})
    for (const Loss loss : {Loss::linear, Loss::soft_l1}) {
      const Problem one = problem(odd, {.mode = mode, .loss = loss, .precision = Precision::f32});
      const auto expected = oracle::in_a_row(oracle::normal_equations(one, one.input->box.start));
      for (const Variant variant : variants)
        EXPECT_LT(oracle::distance(result(Unit::normal_equations, variant, one), expected), 5e-5);
      const oracle::Fit fit = oracle::fit(one, 8);
      const std::vector<double> found = result(Unit::fit, Variant::optimized, one);
      expect_parameters(found, fit, 1e-2);
    }
}

// At the end, trials are so close together that a missing pass would change only the last digits.
TEST(XpcsHost, MakesEveryPassOfAFitWhereItsTrialIs) {
  for (const Mode mode : {Mode::at_rest, Mode::laminar}) {
    const Problem one = problem({4, 48}, {.mode = mode});
    HostFit fit(one, accounted_passes);
    fit.restart();
    while (
        !fit.take(result(Unit::normal_equations, Variant::optimized, at(one, fit.trial())).data()))
      ;
    EXPECT_EQ(result(Unit::fit, Variant::optimized, one), fit_result(fit.state(), freedom(one)));
  }
}

// Equal terms, whose roundings all go the same way: single-precision sums over whole blocks of rows
// would be off by 3e-5.
TEST(XpcsHost, AddsUpInSinglePrecisionNoMoreThanARow) {
  const Problem one = changed(
      problem({1, 1024}, {.mode = Mode::at_rest, .precision = Precision::f32}), [](Input& in) {
        std::ranges::fill(in.data, 0.3055);
        in.box.lower[0] = -1;
        in.box.start[0] = 0;  // no contrast: the model is the offset
        in.box.start[1] = 1;
      });
  const double r = 1 - static_cast<double>(0.3055F), n = 1024 * 1024;
  EXPECT_NEAR(result(Unit::residual, Variant::optimized, one).front() / (n * r * r / 2), 1, 2e-6);
  const std::vector<double> sums = result(Unit::normal_equations, Variant::optimized, one);
  EXPECT_NEAR(sums[0] / (n * r * r / 2), 1, 2e-6);
  EXPECT_NEAR(sums[2] / (n * r), 1, 2e-6);
}

// Arrays of points, the values that pairs of frames share, partial sums; those per frame and the
// result are fewer.
TEST(XpcsHost, HoldsWhatTheFormulaSays) {
  for (const Unit unit : {Unit::g2, Unit::residual, Unit::normal_equations})
    for (const Precision precision : {Precision::f64, Precision::f32}) {
      const Problem one =
          problem({4, 400}, {.scaling = Scaling::per_angle, .precision = precision});
      const auto backend = open_backend("host");
      const auto computation = make(unit, *backend, Variant::optimized, one);
      computation->step();
      const auto estimate = static_cast<double>(
          estimate_bytes(unit, *backend, Variant::optimized, one.input->size, one.options));
      EXPECT_NEAR(static_cast<double>(backend->ledger.peak_bytes) / estimate, 1, 1e-3)
          << static_cast<int>(unit) << " " << name(precision);
    }
}

void expect_derivatives(const Problem& one, double limit) {
  const auto expected = oracle::in_a_row(oracle::normal_equations(one, one.input->box.start));
  for (const Variant variant : variants)
    EXPECT_LT(oracle::distance(result(Unit::normal_equations, variant, one), expected), limit);
}

TEST(XpcsHost, LeavesClippedPointsOutOfDerivatives) {
  for (const auto& start : clipped_starts) expect_derivatives(at(problem(odd, {}), start), 1e-11);
}

// The last integrals of the shear differ by rounding alone.
TEST(XpcsHost, LeavesFlooredRatesOutOfDerivatives) {
  expect_derivatives(with_floored_rates(odd), 1e-6);
}

// With a special box: the model is smallest where it is usually largest.
TEST(XpcsHost, ClipsAModelOfNegativeContrast) {
  const std::vector<double> start = {-2, 1, 1500, 0.3, 10, 3e-4, 0.1, 1e-5, 0};
  const Problem one = changed(at(problem(odd, {}), start), [](Input& in) { in.box.lower[0] = -3; });
  const std::vector<double> expected = oracle::model(one, start);
  EXPECT_EQ(expected.front(), 1e-10);
  const auto sums = oracle::in_a_row(oracle::normal_equations(one, start));
  for (const Variant variant : variants) {
    EXPECT_LT(largest_difference(result(Unit::g2, variant, one), expected), 2e-12);
    EXPECT_LT(oracle::distance(result(Unit::normal_equations, variant, one), sums), 1e-11);
  }
}

TEST(XpcsHost, KeepsItsDigitsWhereThePowerIsNegative) {
  const Problem one = at(problem(odd, {}), {0.5, 1, 1e4, -1.5, 0, 1e-3, -0.5, 0, 0});
  const std::vector<double> expected = oracle::model(one, one.input->box.start);
  for (const Variant variant : variants)
    EXPECT_LT(largest_difference(result(Unit::g2, variant, one), expected), 2e-12);
}

TEST(XpcsHost, TakesPhasesOfThousandsForWhatTheyAre) {
  const auto backend = open_backend("host");
  for (const Variant variant : variants) expect_phases_of_thousands(*backend, variant, odd);
}

TEST(XpcsHost, StaysFiniteAtHugePhases) {
  const Problem one = at(problem(odd, {}), {0.5, 1, 1000, 0.5, 0, 0.5, 2, 0.1, 0});
  // The remaining derivatives lie below the floor of g1, where the optimized variant drops them.
  const std::vector<double> sums = result(Unit::normal_equations, Variant::optimized, one);
  for (const double value : sums) EXPECT_TRUE(std::isfinite(value));
  EXPECT_NEAR(sums.front() / oracle::cost(one, one.input->box.start), 1, 1e-12);
}

TEST(XpcsHost, ReadsEveryPoint) {
  const Problem one = problem(odd, {});
  std::minstd_rand places(3);
  for (int draw = 0; draw < 20; ++draw) {
    const auto k = places() % one.input->data.size();
    SCOPED_TRACE(k);
    expect_derivatives(changed(one, [&](Input& in) { in.data[k] += 1; }), 1e-11);
  }
}

TEST(XpcsHost, DoesNotHideWhatIsNoNumber) {
  const Problem one = changed(problem(odd, {}), [](Input& in) { in.data[500] = std::nan(""); });
  for (const Variant variant : variants)
    EXPECT_TRUE(std::isnan(result(Unit::normal_equations, variant, one).front()));
}

TEST(XpcsHost, IsTheSameAtBothTimes) {
  const Problem flow = problem(odd, {});
  const std::vector<double> m = result(Unit::g2, Variant::optimized, flow);
  for (int a = 0; a < odd.angles; ++a)
    for (int i = 0; i < odd.frames; ++i)
      for (int j = 0; j < i; ++j)
        ASSERT_EQ(m[a * odd.plane() + i * odd.frames + j], m[a * odd.plane() + j * odd.frames + i]);
}

}  // namespace
}  // namespace holdfast::xpcs_fit
