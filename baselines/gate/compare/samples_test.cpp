// SPDX-License-Identifier: Apache-2.0
#include "gate/compare/samples.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace holdfast::gate {
namespace {

Sample took(double real, double cpu, std::optional<double> waited = 0.) {
  Sample sample;
  sample.real = real;
  sample.cpu = cpu;
  sample.waited = waited;
  return sample;
}

Samples of_rounds(std::size_t count, const Sample& base, const Sample& head) {
  return {.base = std::vector(count, base), .head = std::vector(count, head)};
}

// The first quartiles are 1 and 2 seconds on the wall, and 3 and 1 of CPU time.
TEST(Samples, AreComparedByTheFirstQuartilesOfEachClock) {
  Samples samples;
  for (const double more : {4, 0, 1, 9, 2}) {
    samples.base.push_back(took(more, 2 + more));
    samples.head.push_back(took(1 + more, more));
  }
  samples.base[1].real = 0.5;
  samples.head[1].cpu = 0.5;
  EXPECT_NEAR(samples.log_ratio().real, std::log(2. / 1), 1e-12);
  EXPECT_NEAR(samples.log_ratio().cpu, std::log(1. / 3), 1e-12);
}

// A twentieth is left out at either end: of twenty samples one.
TEST(Samples, AreComparedByTheirTrimmedMeansAsWell) {
  Samples samples = of_rounds(20, took(1, 2), took(1, 2));
  for (std::size_t slow = 1; slow < 20; slow += 2) samples.head[slow] = took(1.2, 2);
  samples.base[0] = took(99, 99);
  samples.base[2] = took(0.01, 0.01);
  EXPECT_NEAR(samples.log_ratio_of_means().real, std::log(1.1), 1e-12);
  EXPECT_NEAR(samples.log_ratio_of_means().cpu, 0, 1e-12);
  EXPECT_NEAR(samples.log_ratio().real, 0, 1e-12);
}

TEST(Samples, ShowInTheMeanThatEveryFifthIsSlower) {
  Samples samples = of_rounds(20, took(1, 1), took(1, 1));
  for (const std::size_t slow : {4, 9, 14, 19}) samples.head[slow] = took(1.2, 1.2);
  EXPECT_NEAR(samples.log_ratio_of_means().real, std::log(1 + 0.2 * 3 / 18), 1e-12);
  EXPECT_NEAR(samples.log_ratio_of_means().cpu, std::log(1 + 0.2 * 3 / 18), 1e-12);
  EXPECT_NEAR(samples.log_ratio().real, 0, 1e-12);
}

TEST(Samples, OfARoundAreLeftOutWhereEitherSideWasDisturbed) {
  Samples samples = of_rounds(8, took(1, 1), took(2, 2));
  samples.base[0].disturbed = samples.head[1].disturbed = true;
  samples.base[0].real = samples.head[1].real = 99;
  EXPECT_EQ(samples.leave_out_disturbed(true), 0.25);
  EXPECT_EQ(samples.base.size(), 6u);
  EXPECT_EQ(samples.head.size(), 6u);
  for (const auto* side : {&samples.base, &samples.head})
    for (const Sample& sample : *side) EXPECT_LT(sample.real, 3);
}

TEST(Samples, OneOfManyThreadsMayBeTheClocksChanceAndTwoAreNot) {
  Samples samples = of_rounds(5, took(1, 1), took(1, 1));
  samples.base[2].cpu = 4;
  EXPECT_EQ(samples.threads(), 1);
  samples.head[4].cpu = 2;
  EXPECT_EQ(samples.threads(), 2);
}

// Two threads in the base: one computes and one waits for a CPU. The head has one.
TEST(Samples, OfABuildThatSharesItsWorkAmongFewerThreadsSaySo) {
  Samples samples = of_rounds(5, took(1, 1, 1), took(2, 2, 0));
  EXPECT_NEAR(samples.at_once().value(), std::log(0.5), 1e-12);
  EXPECT_NEAR(samples.waited_share().value(), 5. / 15, 1e-12);
  samples.head[0].waited.reset();
  EXPECT_FALSE(samples.at_once());
  EXPECT_FALSE(samples.waited_share());
}

}  // namespace
}  // namespace holdfast::gate
