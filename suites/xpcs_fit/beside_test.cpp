// SPDX-License-Identifier: Apache-2.0
// What a case is compared with, and which of the two times divides the other; the readings of a
// fit, and its inputs.
#include "families/testing/beside.hpp"

#include <gmock/gmock.h>

#include "xpcs_fit/problem/fit.hpp"
#include "xpcs_fit/row.hpp"

namespace holdfast::xpcs_fit {
namespace {

using testing::DoubleEq;
using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

const auto of_a_gpu = Pair("gpu_over_host", 3. / 2);
const auto of_a_gpu_plain = Pair("gpu_over_host_reference", 3. / 2);

TEST(XpcsBeside, FitsAreDividedTheWayThatTheMetricIsCalled) {
  Row row = {.family = &families::fit, .size = NamedSize::t};
  EXPECT_THAT(beside_three_seconds(row), UnorderedElementsAre(of_a_gpu, of_a_gpu_plain));
  row.size = NamedSize::l;
  EXPECT_THAT(beside_three_seconds(row), UnorderedElementsAre(of_a_gpu));
  row.strategy = Strategy::streaming;
  row.source = DataSource::host;
  EXPECT_THAT(beside_three_seconds(row), UnorderedElementsAre(Pair("rate_over_standard", 3. / 2)));
  row.family = &families::stream_faults;
  EXPECT_THAT(beside_three_seconds(row), IsEmpty());
  row.permanent = 3;
  EXPECT_THAT(beside_three_seconds(row), UnorderedElementsAre(Pair("faulted_over_calm", 2. / 3)));
}

TEST(XpcsBeside, WhatAFitDoesBesidesIsDividedByAFitWithoutIt) {
  Row row = {.family = &families::stream_overhead, .size = NamedSize::s};
  EXPECT_THAT(beside_three_seconds(row), UnorderedElementsAre(Pair("full_over_plain", 2. / 3)));
  row.mode = StreamMode::fast;
  EXPECT_THAT(beside_three_seconds(row), UnorderedElementsAre(Pair("fast_over_plain", 2. / 3)));
  row.mode = StreamMode::plain;
  EXPECT_THAT(beside_three_seconds(row), IsEmpty());
  row.family = &families::progress;
  EXPECT_THAT(beside_three_seconds(row),
              UnorderedElementsAre(Pair("progress_over_silent", 2. / 3)));
}

// Four threads took two seconds where one took three.
TEST(XpcsBeside, ThreadsShareWhatOneTookLonger) {
  Row row = {.family = &families::threads, .count = 4};
  EXPECT_THAT(beside_three_seconds(row),
              UnorderedElementsAre(Pair("parallel_efficiency", DoubleEq(3. / 2 / 4))));
  row.count = 1;
  EXPECT_THAT(beside_three_seconds(row), IsEmpty());
}

TEST(XpcsBeside, ASecondHoldsPointsOfEachPassOrOfTheFit) {
  const Row row = {.family = &families::fit, .size = NamedSize::t};
  EXPECT_THAT(rates_in_a_second(row),
              UnorderedElementsAre(Pair("points_per_s_pass", 8. * 4 * 48 * 48)));
  EXPECT_THAT(rates_in_a_second(as(families::converged, row)),
              UnorderedElementsAre(Pair("points_per_s_fit", 4. * 48 * 48)));
  EXPECT_THAT(rates_in_a_second(Row{.family = &families::spectrum, .count = 256}),
              UnorderedElementsAre(Pair("points_per_s", 256. * 256)));
  for (const Family<Row>* values : {&families::g2, &families::residual})
    EXPECT_THAT(rates_in_a_second(as(*values, row)),
                UnorderedElementsAre(Pair("points_per_s", 4. * 48 * 48)));
  Row sets = as(families::batch_chi2, row);
  sets.count = 8;
  EXPECT_THAT(rates_in_a_second(sets),
              UnorderedElementsAre(Pair("points_per_s", 8. * 4 * 48 * 48)));
}

#ifdef HOLDFAST_CUDA
// The data of each pass, and almost nothing else.
TEST(XpcsUploads, AreWhatAStepMustBringAndLittleMore) {
  const Row row = {.family = &families::fit,
                   .size = NamedSize::t,
                   .strategy = Strategy::streaming,
                   .source = DataSource::host};
  const double share = brought_of_what_must_be(row, Variant::optimized);
  EXPECT_GE(share, 1);
  EXPECT_LT(share, 1.05);
}
#endif

// Data with one noise differ from those with another; with nothing else to distinguish them they
// are the same.
TEST(XpcsInputs, AreMadeAnewForAllThatTheyDependOn) {
  const auto data = [](const Row& row) { return problem_of(row, true).input->data; };
  const Row row = {.size = NamedSize::t};
  Row other = row;
  ++other.seed;
  EXPECT_NE(data(other), data(row));
  other = row;
  other.options.mode = Mode::at_rest;
  EXPECT_NE(data(other), data(row));
  other = row;
  other.options.precision = Precision::f32;
  EXPECT_EQ(data(other), data(row));
}

// Two of the largest size would fill a small machine.
TEST(XpcsInputs, OfTheLargeOnesOnlyTheLastIsKept) {
  const Row row = {.angles = 3, .frames = 41};
  Row other = row;
  other.options.mode = Mode::at_rest;
  const std::int64_t bytes = 8 * points_of(row);
  const std::weak_ptr<const Input> small = problem_of(row, true, bytes).input;
  EXPECT_EQ(problem_of(other, true, bytes).input->size.angles, 3);
  EXPECT_FALSE(small.expired());
  const std::weak_ptr<const Input> large = problem_of(row, true, bytes - 1).input;
  EXPECT_EQ(problem_of(row, true, bytes - 1).input, large.lock());
  const Problem next = problem_of(other, true, bytes - 1);
  EXPECT_TRUE(large.expired());
  EXPECT_EQ(next.input->data, problem_of(other, true, bytes).input->data);
}

// A fit that leaves twice the variance of the noise, and whose third parameter is three deviations
// from the truth.
TEST(XpcsReadings, OfAFitAreItsPassesItsFarthestPullAndTheVarianceThatItLeaves) {
  for (const Mode mode : {Mode::at_rest, Mode::laminar}) {
    const Row row = {.family = &families::fit, .size = NamedSize::t, .options = {.mode = mode}};
    std::vector<double> parameters = truth(row.options, 4), sigma(parameters.size());
    for (std::size_t k = 0; k < sigma.size(); ++k) sigma[k] = 0.125 * double(k + 1);
    parameters[2] -= 3 * sigma[2];
    const double noise = Recipe{}.noise, freedom = 4. * 48 * 48 - double(parameters.size());
    std::vector<double> result = {2 * noise * noise * freedom / 2, 8, converged};
    result.insert(result.end(), parameters.begin(), parameters.end());
    result.insert(result.end(), sigma.begin(), sigma.end());
    const auto backend = open_backend("host");
    std::map<std::string, double> told;
    for (const auto& [name, value] :
         steps_of(row).read({.backend = *backend, .result = result, .own = {}}))
      told[name] = value;
    EXPECT_THAT(told, UnorderedElementsAre(Pair("passes", 8.), Pair("pull_max", DoubleEq(3)),
                                           Pair("reduced_chi2", DoubleEq(2))));
  }
}

}  // namespace
}  // namespace holdfast::xpcs_fit
