// SPDX-License-Identifier: Apache-2.0
#include "gate/judge/screening.hpp"
#include "gate/documents/verdict.hpp"

#include <gmock/gmock.h>

#include <cmath>

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

TEST(Screening, ASpeedupWithinTheTolerancePasses) {
  EXPECT_EQ(judge_screened(faster, five(9.6), entry(10)).verdict, "PASS");
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

TEST(Screening, TheToleranceIsTheLeastLimit) {
  EXPECT_DOUBLE_EQ(screening_limit(0.05, entry(10, 0, {10, 10, 10, 10, 10})), std::log1p(0.05));
}

TEST(Screening, FewerThanFiveProcessesDecideNothing) {
  const Judgement judged = judge_screened(faster, {.value = 10.0, .processes = 4}, entry(10));
  EXPECT_EQ(judged.verdict, "NOISY");
  EXPECT_THAT(judged.because, HasSubstr("measured in 4 of the 5 processes"));
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

TEST(Screening, AValueThatIsNotPositiveIsUndecided) {
  EXPECT_EQ(judge_screened(faster, five(0), entry(10)).verdict, "NOISY");
}

TEST(Bounds, TheBoundItselfIsAllowed) {
  EXPECT_FALSE(violation({.min = 3, .source = "spec"}, 3.0, "1"));
  EXPECT_FALSE(violation({.max = 4, .source = "spec"}, 4.0, "1"));
}

TEST(Bounds, AViolationNamesBothNumbersAndTheSource) {
  EXPECT_EQ(*violation({.min = 3, .source = "spec"}, 2.5, "1"),
            "is 2.5, below the bound of 3 (spec)");
  EXPECT_EQ(*violation({.max = 1e-3, .source = "spec"}, 1.5e-3, "s"),
            "is 1.5 ms, above the bound of 1 ms (spec)");
}

}  // namespace
}  // namespace holdfast::gate
