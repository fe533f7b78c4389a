// SPDX-License-Identifier: Apache-2.0
#include "gate/judge/screening.hpp"
#include "gate/base/numbers.hpp"
#include "gate/documents/verdict_names.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <random>

namespace holdfast::gate {
namespace {

using testing::HasSubstr;

const Standard fewer = {.kind = "exact", .better = Better::lower, .gate = Gate::block};
const Standard faster = {
    .kind = "ratio", .better = Better::higher, .gate = Gate::block, .tolerance = 0.05};
const Standard shorter = {
    .kind = "time", .better = Better::lower, .unit = "s", .gate = Gate::warn, .tolerance = 0.05};

Measured five(double value) {
  return {.value = value, .processes = 5};
}

Entry entry(double value, double mad_between = 0, std::vector<double> medians = {}) {
  return {.value = value, .mad_between = mad_between, .medians = std::move(medians)};
}

TEST(ExactMetrics, EqualCountsPass) {
  EXPECT_EQ(judge_exact(fewer, {.value = 4.0}, 4.0).verdict, "PASS");
}

TEST(ExactMetrics, OneMoreIsARegressionWithBothNumbers) {
  const Judgement judged = judge_exact(fewer, {.value = 5.0}, 4.0);
  EXPECT_EQ(judged.verdict, "REGRESSION");
  EXPECT_EQ(judged.because, "rose from 4 to 5 (+25 %), the limit is +0 %");
  EXPECT_DOUBLE_EQ(*judged.change, 0.25);
}

TEST(ExactMetrics, OneLessIsAnImprovement) {
  EXPECT_EQ(judge_exact(fewer, {.value = 3.0}, 4.0).verdict, "IMPROVED");
}

TEST(ExactMetrics, OneMoreOfZeroIsARegressionWithoutAPercentage) {
  const Judgement judged = judge_exact(fewer, {.value = 1.0}, 0.0);
  EXPECT_EQ(judged.verdict, "REGRESSION");
  EXPECT_FALSE(judged.change);
}

TEST(ExactMetrics, OneByteOfAGigabyteCounts) {
  EXPECT_EQ(judge_exact(fewer, {.value = 1073741825.0}, 1073741824.0).verdict, "REGRESSION");
}

TEST(ExactMetrics, OneOfATrillionCounts) {
  for (const Better better : {Better::lower, Better::same}) {
    Standard standard = fewer;
    standard.better = better;
    EXPECT_EQ(judge_exact(standard, {.value = 1099511627775.0}, 1099511627774.0).verdict,
              "REGRESSION");
  }
}

TEST(ExactMetrics, TheRoundingOfARatioDoesNot) {
  EXPECT_EQ(judge_exact(fewer, {.value = 0.1 + 0.2}, 0.3).verdict, "PASS");
  const double beside = std::nextafter(3.0, 0.0);
  EXPECT_EQ(judge_exact(fewer, {.value = 3.0}, beside).verdict, "PASS") << "whole on one side";
  EXPECT_EQ(judge_exact(fewer, {.value = beside}, 3.0).verdict, "PASS");
}

TEST(ExactMetrics, AToleranceIsRelative) {
  Standard loose = fewer;
  loose.tolerance = 0.1;
  EXPECT_EQ(judge_exact(loose, {.value = 109.0}, 100.0).verdict, "PASS");
  EXPECT_EQ(judge_exact(loose, {.value = 111.0}, 100.0).verdict, "REGRESSION");
}

TEST(ExactMetrics, AYardstickMustNotChangeEitherWay) {
  Standard yardstick = fewer;
  yardstick.two_sided = true;
  EXPECT_EQ(judge_exact(yardstick, {.value = 3.0}, 4.0).verdict, "REGRESSION");
}

TEST(ExactMetrics, AnotherHashIsNeitherBetterNorWorse) {
  const Standard hash = {.kind = "codegen", .better = Better::same};
  EXPECT_EQ(judge_exact(hash, {.value = "sha256:a"}, "sha256:b").verdict, "DRIFT");
  EXPECT_EQ(judge_exact(hash, {.value = "sha256:a"}, "sha256:a").verdict, "PASS");
}

TEST(ExactMetrics, ANumberThatIsToStayTheSameMayNotMoveEitherWay) {
  const Standard same = {.kind = "exact", .better = Better::same, .gate = Gate::block};
  EXPECT_EQ(judge_exact(same, {.value = 3.0}, 4.0).verdict, "REGRESSION");
  EXPECT_EQ(judge_exact(same, {.value = 5.0}, 4.0).verdict, "REGRESSION");
}

TEST(ExactMetrics, OfWhichMoreIsBetterOneLessIsARegression) {
  const Standard more = {.kind = "exact", .better = Better::higher, .gate = Gate::block};
  EXPECT_EQ(judge_exact(more, {.value = 3.0}, 4.0).verdict, "REGRESSION");
  EXPECT_EQ(judge_exact(more, {.value = 5.0}, 4.0).verdict, "IMPROVED");
}

TEST(Screening, ASpeedupWithinTheTolerancePasses) {
  EXPECT_EQ(judge_screened(faster, five(9.6), entry(10)).verdict, "PASS");
}

// As measured for unchanged code on a virtual machine whose neighbours slowed most of its
// processes.
TEST(Screening, WhatAQuarterOfTheProcessesDoesNotShowIsUndecided) {
  Measured measured = {.value = 7.55,
                       .mad_between = 0.2,
                       .processes = 8,
                       .values = {7.45, 9.87, 7.46, 7.5, 9.9, 7.57, 7.6, 7.73}};
  const Judgement judged = judge_screened(faster, measured, entry(9.64));
  EXPECT_EQ(judged.verdict, "NOISY");
  EXPECT_THAT(judged.because, HasSubstr("a quarter of the processes or more are as good"));

  EXPECT_GT(resolution_screened(faster, measured, entry(9.64), false), std::log(9.87 / 7.55));

  measured.values[1] = 7.4;  // one alone is luck
  EXPECT_EQ(judge_screened(faster, measured, entry(9.64)).verdict, "REGRESSION");
  EXPECT_LT(resolution_screened(faster, measured, entry(9.64), false), std::log(9.64 / 7.55));
}

TEST(Screening, BetweenTheLimitAndTwiceTheLimitIsUndecided) {
  EXPECT_EQ(judge_screened(faster, five(9.4), entry(10)).verdict, "NOISY");
}

TEST(Screening, BeyondTwiceTheLimitIsARegression) {
  const Judgement judged = judge_screened(faster, five(9.0), entry(10));
  EXPECT_EQ(judged.verdict, "REGRESSION");
  EXPECT_THAT(judged.because, HasSubstr("fell from 10 to 9 (-10 %), the limit is -4.76 %"));
}

TEST(Screening, ALongerTimeIsWorse) {
  EXPECT_EQ(judge_screened(shorter, five(1.2e-3), entry(1e-3)).verdict, "REGRESSION");
  EXPECT_EQ(judge_screened(shorter, five(0.8e-3), entry(1e-3)).verdict, "IMPROVED");
}

TEST(Screening, TheSpreadBetweenProcessesWidensTheLimit) {
  // 4 * 1.4826 * 0.4 / 10 = 0.237
  EXPECT_NEAR(screening_limit(0.05, entry(10, 0.4)), 0.23722, 1e-5);
  EXPECT_EQ(judge_screened(faster, five(8.0), entry(10, 0.4)).verdict, "PASS");
}

TEST(Screening, FiveRunsReplaceTheSpreadByAPredictionInterval) {
  // The logarithms' standard deviation is ln(1.1) * sqrt(2 / 4); t at 0.995 with 4 degrees of
  // freedom is 4.604.
  const Entry known = entry(10, 5, {10, 10, 10, 11, 10 / 1.1});
  const double expected = 4.604 * std::log(1.1) * std::sqrt(0.5) * std::sqrt(1.2);
  EXPECT_NEAR(screening_limit(0.05, known), expected, 1e-12);
}

// t at 0.995 is 4.032 with 5 degrees of freedom, and 3.707 with 6: of eight runs the trend takes
// one.
TEST(Screening, MoreRunsAreKnownWithMoreDegreesOfFreedom) {
  const Entry six = entry(10, 0, {9, 11, 9, 11, 9, 11});
  const double half = std::log(11. / 9) / 2;  // each logarithm is as far from their mean
  EXPECT_NEAR(screening_limit(0.05, six), 4.032 * half * std::sqrt(6. / 5) * std::sqrt(7. / 6),
              1e-12);
  // 1 -1 -1 1 -1 1 1 -1 has no trend.
  const Entry eight = entry(10, 0, {11, 9, 9, 11, 9, 11, 11, 9});
  EXPECT_NEAR(screening_limit(0.05, eight), 3.707 * half * std::sqrt(8. / 6) * std::sqrt(9. / 8),
              1e-12);
}

TEST(Screening, TheToleranceIsTheLeastLimit) {
  EXPECT_DOUBLE_EQ(screening_limit(0.05, entry(10, 0, {10, 10, 10, 10, 10})), std::log1p(0.05));
}

TEST(Screening, ALossFromRunToRunLeavesTheLimitAsItWas) {
  std::vector<double> medians;
  while (medians.size() < 12) medians.push_back(10 * std::pow(0.985, medians.size()));
  const double value = median(medians);
  EXPECT_DOUBLE_EQ(screening_limit(0.05, entry(value, 0, medians)), std::log1p(0.05));
}

// Of a thousand series of `days` days with `per_day` runs each, how often one more run of another
// day exceeds the limit as a loss.
int beyond_the_limit(int days, int per_day, double between_days, double within_a_day) {
  std::mt19937 random(7);
  std::normal_distribution<double> normal;
  int count = 0;
  for (int draw = 0; draw < 1000; ++draw) {
    std::vector<double> medians;
    for (int day = 0; day <= days; ++day) {
      const double of_day = between_days * normal(random);
      for (int run = 0; run < (day < days ? per_day : 1); ++run)
        medians.push_back(10 * std::exp(of_day + within_a_day * normal(random)));
    }
    const double next = medians.back();
    medians.pop_back();
    const double value = median(medians);
    count += std::log(value / next) > screening_limit(0.0001, entry(value, 0, medians));
  }
  return count;
}

TEST(Screening, ARunOfEqualCodeIsSeldomBeyondTheLimit) {
  for (const int runs : {5, 7, 8, 12, 20})
    EXPECT_LE(beyond_the_limit(runs, 1, 0, 0.03), 12) << runs;
  // The spread between days is known as well as few days allow.
  EXPECT_LE(beyond_the_limit(4, 5, 0.03, 0.01), 70);
}

// The strictest tolerance, not none.
TEST(Screening, WithoutAToleranceAnyLossIsARegression) {
  Standard exact = faster;
  exact.tolerance = 0;
  EXPECT_EQ(judge_screened(exact, five(8), entry(12)).verdict, "REGRESSION");
  EXPECT_EQ(judge_screened(exact, five(12), entry(12)).verdict, "PASS");
  EXPECT_EQ(judge_screened(exact, five(13), entry(12)).verdict, "IMPROVED");
  EXPECT_FALSE(Judgement().suspect()) << "which compared nothing";
}

TEST(Screening, FewerThanFiveProcessesDecideNothing) {
  const Judgement judged = judge_screened(faster, {.value = 10.0, .processes = 4}, entry(10));
  EXPECT_EQ(judged.verdict, "NOISY");
  EXPECT_THAT(judged.because, HasSubstr("measured in 4 of the 5 processes"));
}

TEST(Screening, AnotherRunOfFewerThanFiveProcessesConfirmsNothing) {
  const std::vector<Measured> enough = {five(9.4)}, few = {{.value = 9.4, .processes = 4}};
  EXPECT_EQ(judge_screened(faster, five(9.4), entry(10), enough).verdict, "REGRESSION");
  EXPECT_EQ(judge_screened(faster, five(9.4), entry(10), few).verdict, "NOISY");
}

TEST(Screening, WhatTheProcessesOfThisRunDifferByIsNotDecided) {
  EXPECT_EQ(
      judge_screened(faster, {.value = 8.0, .mad_between = 1.0, .processes = 5}, entry(10)).verdict,
      "NOISY");
}

TEST(Screening, ManySmallStepsAwayFromTheAnchorAreDrift) {
  Entry known = entry(9.0);
  known.anchor = 10;
  EXPECT_EQ(judge_screened(faster, five(9.0), known).verdict, "DRIFT");
}

TEST(Screening, HowMuchRunsDifferExcusesNoDriftAndHowMuchTheirProcessesDifferDoes) {
  Entry known = entry(9.0, 0, {10, 9.5, 9.0, 8.5, 8.0});
  known.anchor = 10;
  EXPECT_GT(screening_limit(0.05, known), 0.3);
  EXPECT_EQ(judge_screened(faster, five(9.4), known).verdict, "DRIFT");
  EXPECT_EQ(judge_screened(faster, five(9.6), known).verdict, "PASS");
  known.mad_between = 0.2;
  EXPECT_EQ(judge_screened(faster, five(9.4), known).verdict, "PASS");
}

TEST(Screening, AValueThatIsNotPositiveIsUndecided) {
  EXPECT_EQ(judge_screened(faster, five(0), entry(10)).verdict, "NOISY");
}

// Votes on a bound on a value made of times, whose kind is neither time nor ratio.
BoundVotes votes_of(const std::vector<double>& values, double most, std::size_t processes) {
  const Standard standard{.kind = "bound"};
  const Bound bound{.max = most, .source = "a target"};
  return vote(
      standard, bound,
      {.value = values.empty() ? 3. : median(values), .processes = processes, .values = values});
}

TEST(Bounds, OnWhatIsMadeOfTimesEachProcessHasItsSay) {
  const std::vector<double> five = {2.8, 2.9, 3, 3.1, 9};
  EXPECT_TRUE(votes_of(five, 2.5, 5).certain);
  const BoundVotes some = votes_of(five, 3.05, 5);
  EXPECT_EQ(some.beyond, 2u);
  EXPECT_FALSE(some.certain);
  EXPECT_TRUE(votes_of(five, 10, 5).enough);
  EXPECT_FALSE(votes_of({2.8, 2.9}, 2.5, 2).certain) << "two are too few";
  EXPECT_FALSE(votes_of({2.8, 2.9}, 10, 2).enough);
  EXPECT_FALSE(votes_of({}, 2.5, 0).certain) << "every process was disturbed";
  EXPECT_TRUE(votes_of({}, 2.5, 1).certain) << "one value, which no clock told";
}

TEST(Bounds, TheBoundItselfIsAllowed) {
  EXPECT_FALSE(violation({.min = 3, .source = "spec"}, 3.0, "1"));
  EXPECT_FALSE(violation({.max = 4, .source = "spec"}, 4.0, "1"));
}

TEST(Bounds, OnBothSidesAreKeptOnBoth) {
  const Bound both{.min = 3, .max = 4, .source = "spec"};
  const Standard standard{.kind = "bound"};
  for (const double beyond : {2.5, 4.5}) {
    EXPECT_TRUE(violation(both, beyond, "1")) << beyond;
    EXPECT_TRUE(vote(standard, both, {.value = beyond, .processes = 1}).certain) << beyond;
  }
  EXPECT_FALSE(violation(both, 3.5, "1"));
}

TEST(Bounds, AViolationNamesBothNumbersAndTheSource) {
  EXPECT_EQ(*violation({.min = 3, .source = "spec"}, 2.5, "1"),
            "is 2.5, below the bound of 3 (spec)");
  EXPECT_EQ(*violation({.max = 1e-3, .source = "spec"}, 1.5e-3, "s"),
            "is 1.5 ms, above the bound of 1 ms (spec)");
}

TEST(Bounds, AViolationShowsAsManyDigitsAsTellItsNumbersApart) {
  EXPECT_EQ(*violation({.max = 8589934592, .source = "spec"}, 8589934593, "B"),
            "is 8.589934593 GB, above the bound of 8.589934592 GB (spec)");
  EXPECT_EQ(*violation({.min = 3, .source = "spec"}, 2.99999, "1"),
            "is 2.99999, below the bound of 3 (spec)");
}

// Five processes of a speedup of 10 on a machine of this noise, of code that lost so much.
Measured noisy(std::mt19937& random, double noise, double loss) {
  std::normal_distribution<double> normal(0, noise);
  Measured made{.value = 0.0, .processes = 5};
  for (int i = 0; i < 5; ++i) made.values.push_back(10 / (1 + loss) * std::exp(normal(random)));
  std::vector<double> sorted = made.values;
  std::sort(sorted.begin(), sorted.end());
  made.value = sorted[2];
  std::vector<double> away;
  for (const double value : sorted) away.push_back(std::abs(value - sorted[2]));
  std::sort(away.begin(), away.end());
  made.mad_between = away[2];
  return made;
}

Measured slowed(Measured measured, double loss) {
  for (double& value : measured.values) value /= 1 + loss;
  measured.value = std::get<double>(measured.value) / (1 + loss);
  *measured.mad_between /= 1 + loss;
  return measured;
}

// How many of a thousand runs fail once they lose this share of the smallest loss that they
// reported as failing.
template <class Tell, class Fails>
int found(double noise, double share, const Tell& tell, const Fails& fails) {
  std::mt19937 random(7);
  int count = 0;
  for (int draw = 0; draw < 1000; ++draw) {
    const Measured base = noisy(random, noise, 0), head = noisy(random, noise, 0);
    count += fails(slowed(head, share * std::expm1(tell(head, base))), base);
  }
  return count;
}

Entry accepted_of(const Measured& base) {
  return entry(std::get<double>(base.value), *base.mad_between);
}

TEST(Resolution, WhatIsToldAgainstAnAcceptedValueIsFoundAndAThirdOfItIsNot) {
  const auto tell = [](const Measured& head, const Measured& base) {
    return resolution_screened(faster, head, accepted_of(base), false);
  };
  const auto fails = [](const Measured& head, const Measured& base) {
    return judge_screened(faster, head, accepted_of(base)).verdict == verdict::regression;
  };
  for (const double noise : {0.002, 0.01, 0.03, 0.08}) {
    EXPECT_GE(found(noise, 1.3, tell, fails), 900) << noise;
    EXPECT_LE(found(noise, 0.3, tell, fails), 100) << noise;
  }
}

TEST(Resolution, WhatIsToldAgainstTheBaseBesideItIsFoundAndAThirdOfItIsNot) {
  const auto tell = [](const Measured& head, const Measured& base) {
    return resolution_beside(faster, head, base, false);
  };
  const auto fails = [](const Measured& head, const Measured& base) {
    return judge_beside(faster, head, base).verdict == verdict::regression;
  };
  for (const double noise : {0.002, 0.01, 0.03, 0.08}) {
    EXPECT_GE(found(noise, 1.3, tell, fails), 900) << noise;
    EXPECT_LE(found(noise, 0.3, tell, fails), 100) << noise;
  }
}

// The comparison in lock step sees only what it is asked about.
TEST(Resolution, WhatIsToldBesideTheBaseIsAskedAbout) {
  const auto tell = [](const Measured& head, const Measured& base) {
    return resolution_beside(faster, head, base, true);
  };
  const auto asks = [](const Measured& head, const Measured& base) {
    return judge_beside(faster, head, base).worth_comparing;
  };
  for (const double noise : {0.002, 0.01, 0.03, 0.08})
    EXPECT_GE(found(noise, 1.3, tell, asks), 900) << noise;
  for (const double noise : {0.002, 0.01}) EXPECT_LE(found(noise, 0.3, tell, asks), 100) << noise;
}

TEST(Resolution, OfAWideLimitIsNoBetterWhereAComparisonLooksAtWhatIsBeyondIt) {
  const Entry wide = entry(10, 0.4);
  const Measured head{.value = 10.0, .mad_between = 0, .processes = 5, .values = {5, 10.0}};
  EXPECT_GE(resolution_screened(faster, head, wide, true), screening_limit(0.05, wide));
}

TEST(BesideTheBase, PairsThatMoveTogetherShowASmallLoss) {
  Measured base{.value = 10.0, .mad_between = 2, .processes = 5, .values = {6, 8, 10, 12, 14}};
  Measured head = slowed(base, 0.2);
  EXPECT_EQ(judge_beside(faster, head, base).verdict, verdict::regression);
  EXPECT_TRUE(judge_beside(faster, slowed(base, 0.03), base).worth_comparing);
  EXPECT_EQ(judge_beside(faster, slowed(base, 0.03), base).verdict, verdict::pass);
  EXPECT_FALSE(judge_beside(faster, slowed(base, 0.01), base).worth_comparing);
  std::swap(base, head);
  EXPECT_EQ(judge_beside(faster, head, base).verdict, verdict::improved);
}

// Pairs of those that stand at the same place would be of equal speed.
TEST(BesideTheBase, WhereASideHasMoreProcessesItsMiddleStandsForThem) {
  const Measured base{
      .value = 10.0, .mad_between = 0, .processes = 7, .values = {8, 8, 8, 10, 10, 10, 10}};
  const auto head = [](double value) {
    return Measured{
        .value = value, .mad_between = 0, .processes = 5, .values = std::vector<double>(5, value)};
  };
  EXPECT_EQ(judge_beside(faster, head(8), base).verdict, verdict::regression);
  EXPECT_EQ(judge_beside(faster, head(12), base).verdict, verdict::improved);
}

// On a machine that slows down from round to round, processes of different rounds are no pairs.
TEST(BesideTheBase, ProcessesOfDifferentRoundsAreNoPairs) {
  Measured base{.value = 10.0, .mad_between = 1, .processes = 5, .values = {12, 11, 10, 9, 8}};
  Measured head{
      .value = 8.0, .mad_between = 0.8, .processes = 5, .values = {9.6, 8.8, 8, 7.2, 6.4}};
  EXPECT_EQ(judge_beside(faster, head, base).verdict, verdict::regression);
  for (Measured* side : {&base, &head}) {
    side->of_other_rounds = true;
    EXPECT_EQ(judge_beside(faster, head, base).verdict, verdict::noisy);
    side->of_other_rounds = false;
  }
}

TEST(BesideTheBase, AGainThatThePairsDoNotAgreeOnIsNone) {
  const Measured base{
      .value = 10.0, .mad_between = 0, .processes = 5, .values = {10, 10, 10, 10, 10}};
  const Measured head{
      .value = 11.0, .mad_between = 3, .processes = 5, .values = {8, 7, 11, 14, 15}};
  EXPECT_EQ(judge_beside(faster, head, base).verdict, verdict::pass);
}

TEST(BesideTheBase, AProcessOfEitherSideThatHasNoPositiveValueLeavesNoPairs) {
  const Measured whole{
      .value = 10.0, .mad_between = 0, .processes = 5, .values = {9, 9, 10, 11, 11}};
  Measured broken = whole;
  broken.values.front() = 0;
  EXPECT_EQ(judge_beside(faster, broken, whole).verdict, verdict::noisy);
  EXPECT_EQ(judge_beside(faster, whole, broken).verdict, verdict::noisy);
}

TEST(BesideTheBase, WithoutAToleranceAnyLossIsARegression) {
  const auto of = [](double value) {
    return Measured{.value = value, .processes = 5, .values = std::vector<double>(5, value)};
  };
  Standard exact = faster;
  exact.tolerance = 0;
  EXPECT_EQ(judge_beside(exact, of(8), of(12)).verdict, "REGRESSION");
  EXPECT_EQ(judge_beside(exact, of(12), of(12)).verdict, "PASS");
}

TEST(BesideTheBase, FewerProcessesThanADecisionNeedsDecideNothing) {
  const Measured base{.value = 10.0, .mad_between = 0, .processes = 3, .values = {10, 10, 10}};
  EXPECT_EQ(judge_beside(faster, slowed(base, 0.5), base).verdict, verdict::noisy);
  const Measured other{.value = 10.0, .mad_between = 0, .processes = 2, .values = {10, 10}};
  EXPECT_EQ(judge_beside(faster, other, base).verdict, verdict::noisy);
  const Measured enough{.value = 5.0, .mad_between = 0, .processes = 5, .values = {5, 5, 5, 5, 5}};
  EXPECT_EQ(judge_beside(faster, enough, base).verdict, verdict::noisy);
}

}  // namespace
}  // namespace holdfast::gate
