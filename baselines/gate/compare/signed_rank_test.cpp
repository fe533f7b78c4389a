// SPDX-License-Identifier: Apache-2.0
#include "gate/compare/signed_rank.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <random>

namespace holdfast::gate {
namespace {

std::vector<double> normal(std::mt19937_64& random, int n, double centre, double sd) {
  std::normal_distribution<double> draw(centre, sd);
  std::vector<double> units;
  for (int i = 0; i < n; ++i) units.push_back(draw(random));
  return units;
}

// Conover, "Practical Nonparametric Statistics", table A12: the largest w with P(T+ <= w) at most
// alpha.
TEST(Shift, BoundsAreTheWalshAveragesThatTheTablesName) {
  const std::vector<double> units = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512};
  std::vector<double> averages;
  for (std::size_t i = 0; i < units.size(); ++i)
    for (std::size_t j = i; j < units.size(); ++j) averages.push_back((units[i] + units[j]) / 2);
  std::sort(averages.begin(), averages.end());
  const struct {
    double alpha;
    std::size_t w;
  } table[] = {{0.005, 3}, {0.01, 5}, {0.025, 8}, {0.05, 10}};
  for (const auto& [alpha, w] : table) {
    const Shift found = shift(units, alpha);
    EXPECT_EQ(found.lower, averages[w]) << alpha;
    EXPECT_EQ(found.upper, averages[averages.size() - 1 - w]) << alpha;
  }
}

TEST(Shift, WithinTheToleranceEitherWayPasses) {
  const auto verdict = [](double lower, double upper) {
    return verdict_of({.estimate = (lower + upper) / 2, .lower = lower, .upper = upper}, 0.02);
  };
  EXPECT_EQ(verdict(-0.015, -0.005), Paired::pass);
  EXPECT_EQ(verdict(-0.05, -0.03), Paired::improved);
  EXPECT_EQ(verdict(0.005, 0.015), Paired::pass);
  EXPECT_EQ(verdict(0.005, 0.03), Paired::undecided);
  EXPECT_EQ(verdict(0.025, 0.03), Paired::regression);
}

TEST(Shift, EstimateIsTheMedianOfTheWalshAverages) {
  EXPECT_EQ(shift(std::vector<double>{0, 1, 5}, 0.1).estimate, 1.75);  // of 0 .5 1 2.5 3 5
}

TEST(Shift, TooFewUnitsBoundNothing) {
  const Shift found = shift(std::vector<double>{0.1, 0.2, 0.3}, 0.01);
  EXPECT_TRUE(std::isinf(found.lower) && std::isinf(found.upper));
  EXPECT_EQ(verdict_of(found, 0.02), Paired::undecided);
}

TEST(Shift, BoundsAreWrongAsOftenAsTheyMayBe) {
  std::mt19937_64 random(7);
  int wrong = 0;
  constexpr int trials = 4000;
  for (int trial = 0; trial < trials; ++trial)
    wrong += shift(normal(random, 14, 0, 1), 0.05).lower > 0;
  EXPECT_LE(wrong, 0.062 * trials);
  EXPECT_GE(wrong, 0.030 * trials);
}

TEST(Looks, ShareAlphaInProportionToTheUnits) {
  const Looks looks;
  double sum = 0;
  for (const int n : looks.units) sum += *looks.alpha_at(n);
  EXPECT_NEAR(sum, 0.005, 1e-15);
  EXPECT_NEAR(*looks.alpha_at(160) / *looks.alpha_at(20), 8, 1e-12);
  EXPECT_FALSE(looks.alpha_at(15).has_value());
}

TEST(Looks, ALastLookHasWhatTheOthersLeft) {
  const Looks looks;
  for (const int end : {3, 14, 15, 60, 159}) {
    double spent = 0;
    for (const int n : looks.units)
      if (n <= end) spent += *looks.alpha_at(n);
    EXPECT_NEAR(spent + looks.rest_after(end), looks.alpha, 1e-15) << end;
  }
  EXPECT_EQ(looks.rest_after(160), 0);
}

TEST(Looks, FirstLookCanDecide) {
  const std::vector<double> slow(14, 0.1);
  EXPECT_EQ(verdict_of(shift(slow, *Looks{}.alpha_at(14)), 0.02), Paired::regression);
}

TEST(Decide, SlowerBeyondTheToleranceIsARegression) {
  EXPECT_EQ(verdict_of({.estimate = 0.05, .lower = 0.03, .upper = 0.07}, 0.02), Paired::regression);
}
TEST(Decide, FasterBeyondTheToleranceIsAnImprovement) {
  EXPECT_EQ(verdict_of({.estimate = -0.05, .lower = -0.07, .upper = -0.03}, 0.02),
            Paired::improved);
}
TEST(Decide, WithinTheToleranceIsAPass) {
  EXPECT_EQ(verdict_of({.estimate = 0.005, .lower = -0.05, .upper = 0.015}, 0.02), Paired::pass);
}
TEST(Decide, AroundTheToleranceIsUndecided) {
  EXPECT_EQ(verdict_of({.estimate = 0.02, .lower = 0.01, .upper = 0.03}, 0.02), Paired::undecided);
}

TEST(SmallestShown, IsTheToleranceAndTheReachOfTheBound) {
  EXPECT_NEAR(smallest_shown({.estimate = 0.001, .lower = -0.009, .upper = 0.011}, 0.02),
              1.02 * std::exp(0.01) - 1, 1e-12);
}

TEST(Chance, NoneSeenIsBoundedByThreeOverTheTrials) {
  EXPECT_EQ(chance(0, 100).lower, 0);
  EXPECT_NEAR(chance(0, 100).upper, 1 - std::pow(0.025, 0.01), 1e-9);
}
TEST(Chance, OfHalfIsSymmetric) {
  EXPECT_NEAR(chance(5, 10).lower, 0.1871, 1e-4);  // tabulated by Clopper and Pearson
  EXPECT_NEAR(chance(5, 10).lower, 1 - chance(5, 10).upper, 1e-12);
}
TEST(Chance, AlwaysSeenIsBoundedBelowAlone) {
  EXPECT_EQ(chance(10, 10).upper, 1);
  EXPECT_NEAR(chance(10, 10).lower, 0.6915, 1e-4);
}

TEST(TwoModes, AreToldWhereTheyAreClear) {
  std::mt19937_64 random(3);
  std::vector<double> units = normal(random, 14, 0, 0.002);
  for (const double unit : normal(random, 7, 0.05, 0.002)) units.push_back(unit);
  ASSERT_TRUE(two_modes(units).has_value());
  EXPECT_THAT(*two_modes(units), ::testing::HasSubstr("in 67 % of them"));
}

TEST(TwoModes, OnePopulationHasNone) {
  std::mt19937_64 random(4);
  int told = 0;
  for (int trial = 0; trial < 300; ++trial) told += two_modes(normal(random, 40, 0, 1)).has_value();
  EXPECT_EQ(told, 0);
}

}  // namespace
}  // namespace holdfast::gate
