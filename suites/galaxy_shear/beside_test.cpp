// SPDX-License-Identifier: Apache-2.0
// What a case is compared with, and which of the two times divides the other; the truncation error
// of its images.
#include "families/testing/beside.hpp"

#include <gmock/gmock.h>

#include <algorithm>

#include "galaxy_shear/oracle/oracle.hpp"
#include "galaxy_shear/oracles.hpp"
#include "galaxy_shear/row.hpp"

namespace holdfast::galaxy_shear {
namespace {

using testing::DoubleEq;
using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

auto told_of(const Family<Row>& family, const Options& options = {}) {
  return beside_three_seconds(Row{.family = &family, .options = options});
}
auto rates_of(const Family<Row>& family, const Options& options = {}) {
  return rates_in_a_second(Row{.family = &family, .options = options});
}

TEST(GalaxyBeside, DividesTheWayThatTheMetricIsCalled) {
  const auto twice = Pair("f64_over_f32_time", 3. / 2);
  const auto gradient = Pair("grad_over_forward", 2. / 3);
  EXPECT_THAT(told_of(families::render), IsEmpty());
  EXPECT_THAT(told_of(families::render, {.precision = Precision::f32}),
              UnorderedElementsAre(twice));
  EXPECT_THAT(told_of(families::render_grad), UnorderedElementsAre(gradient));
  EXPECT_THAT(told_of(families::svi_step, {.fft = 64, .precision = Precision::f32}),
              UnorderedElementsAre(twice, gradient, Pair("over_fft_128", 2. / 3)));
  EXPECT_THAT(told_of(families::svi_step, {.fft = 256, .image = 64}),
              UnorderedElementsAre(gradient, Pair("over_fft_128", 2. / 3)));
  EXPECT_THAT(told_of(families::svi_step, {.fft = 256, .image = 129}),
              UnorderedElementsAre(gradient));
  EXPECT_THAT(told_of(families::forward), UnorderedElementsAre(Pair("overhead_vs_render", 2. / 3)));
}

// A fit of 20 steps of three seconds each, and a sample of 17 gradients.
TEST(GalaxyBeside, OfManyGradientsOneIsPutBesideAStep) {
  EXPECT_THAT(told_of(families::map, {.steps = 20}),
              UnorderedElementsAre(Pair("overhead_ratio", DoubleEq(2. / 3 / 20))));
  EXPECT_THAT(told_of(families::vi_step), UnorderedElementsAre(Pair("gradient_over_step", 2. / 3)));
  EXPECT_THAT(told_of(families::hmc_sample),
              UnorderedElementsAre(Pair("gradient_over_step", DoubleEq(2. / 3 / 17))));
}

TEST(GalaxyBeside, WhatIsPutBesideIsWhatTheMetricIsCalledAfter) {
  const auto expect = [](const Row& row, const char* name, const Row& other) {
    EXPECT_EQ(bytes_beside(row, name), bytes_of(other)) << name;
    EXPECT_NE(bytes_of(row), bytes_of(other)) << name;
  };
  const Row step = {.family = &families::svi_step, .options = {.fft = 64, .image = 21}};
  Row other = step;
  other.options.fft = 128;
  expect(step, "over_fft_128", other);
  expect(step, "grad_over_forward", as(families::render, step));
  expect(as(families::forward, step), "overhead_vs_render", as(families::render, step));
  expect(as(families::map, step), "overhead_ratio", step);
  expect(as(families::hmc_sample, step), "gradient_over_step", step);
  other = step;
  other.options.precision = Precision::f32;
  expect(other, "f64_over_f32_time", step);
}

TEST(GalaxyBeside, PublishedSecondsAreOfOneImageAndOfEachStepOfAFit) {
  const auto each = Pair("galaxies_per_s", 1.);
  EXPECT_THAT(rates_of(families::render),
              UnorderedElementsAre(each, Pair("vs_seed_render", 0.6e-3)));
  EXPECT_THAT(rates_of(families::render_grad),
              UnorderedElementsAre(each, Pair("vs_seed_grad", 24e-3)));
  EXPECT_THAT(rates_of(families::svi_step),
              UnorderedElementsAre(each, Pair("vs_seed_step", 25e-3)));
  EXPECT_THAT(rates_of(families::map, {.steps = 20}),
              UnorderedElementsAre(each, Pair("vs_seed_run", DoubleEq(8))));
  EXPECT_THAT(rates_of(families::render, {.batch = 64}),
              UnorderedElementsAre(Pair("galaxies_per_s", 64.)));
  for (const Options& other : {Options{.fft = 64}, Options{.image = 32}})
    EXPECT_THAT(rates_of(families::render, other), UnorderedElementsAre(each));
  EXPECT_THAT(rates_of(families::scene_step, {.objects = 5}),
              UnorderedElementsAre(Pair("galaxies_per_s", 5.)));
  EXPECT_THAT(rates_of(families::hmc_sample), UnorderedElementsAre(Pair("gradients_per_s", 17.)));
}

TEST(GalaxyFindings, AreOfFitsOfWhichTheHostLooksAtEachStep) {
  const auto expected = [](Launch launch) {
    return case_of(Row{.family = &families::map, .options = {.launch = launch}}).expected.size();
  };
  EXPECT_EQ(expected(Launch::host), 2U);
  EXPECT_EQ(expected(Launch::graph), 0U);
  EXPECT_EQ(expected(Launch::persistent), 0U);
}

TEST(GalaxyReferences, OfManyObjectsAreTooSlowForAHost) {
  const auto too_slow = [](int objects) {
    return case_of(Row{.family = &families::scene_step, .options = {.objects = objects}})
        .unreferenced;
  };
  EXPECT_THAT(too_slow(16), IsEmpty());
  EXPECT_THAT(too_slow(256), testing::ElementsAre("host"));
}

TEST(GalaxyReadings, BytesOfOtherSamplesAreDividedByThoseOf128) {
  for (const int fft : {64, 256}) {
    const Row row = {.family = &families::svi_step, .options = {.fft = fft, .image = 33}};
    Row usual = row;
    usual.options.fft = 128;
    for (const Variant variant : {Variant::optimized, Variant::reference}) {
      const auto backend = open_backend("host"), other = open_backend("host");
      const auto step = make(row, *backend, variant), beside = make(usual, *other, variant);
      const auto told =
          steps_of(row).read({.backend = *backend, .variant = variant, .result = {}, .own = {}});
      ASSERT_EQ(told.size(), 1U);
      EXPECT_EQ(told[0].name, "bytes_over_fft_128");
      EXPECT_EQ(told[0].value,
                double(backend->ledger.peak_bytes) / double(other->ledger.peak_bytes));
    }
  }
}

// Two programs found a truncation error of 1.9e-8 with fewer samples.
TEST(GalaxyReadings, WhatFewerSamplesLeaveOutIsHeldToTheFinestAndToThePeak) {
  const Row row = {.family = &families::render, .options = {.fft = 64}};
  const Scene coarse = scene_of(row.options), fine = scene_of({.fft = 512});
  const Parameters truth = truth_of(coarse, 0);
  EXPECT_NEAR(truncation_error(row, oracle::image(coarse, truth)), 1.9e-8, 0.1e-8);
  std::vector<double> image = oracle::image(fine, truth);
  EXPECT_EQ(truncation_error(row, image), 0);
  image[7] += 0.01 * *std::max_element(image.begin(), image.end());
  EXPECT_NEAR(truncation_error(row, image), 0.01, 1e-12);
}

}  // namespace
}  // namespace holdfast::galaxy_shear
