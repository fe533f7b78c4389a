// SPDX-License-Identifier: Apache-2.0
// The cases a case is compared with, and which of the two times divides the other.
#include "families/testing/beside.hpp"

#include <gmock/gmock.h>

#include "cubed_sphere_swe/row.hpp"

namespace holdfast::cubed_sphere_swe {
namespace {

using testing::DoubleEq;
using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

Row beside_row(const Family<Row>& family, const Options& options) {
  return {.family = &family, .n = 12, .options = options};
}
auto told_of_step(const Options& options) {
  return beside_three_seconds(beside_row(families::rk4_step, options));
}
auto told_of_loop(const Options& options) {
  return beside_three_seconds(beside_row(families::loop, options));
}

// Four tendencies of three seconds in a step of two.
TEST(SphereBeside, AStepIsPutBesideItsTendenciesAndItsOtherForms) {
  const auto share = Pair("rhs_share", 6.);
  EXPECT_THAT(told_of_step({}), UnorderedElementsAre(share));
  EXPECT_THAT(told_of_step({.precision = Precision::f32}),
              UnorderedElementsAre(share, Pair("f64_over_f32", 3. / 2)));
  EXPECT_THAT(told_of_step({.gemm = GemmSource::tile}),
              UnorderedElementsAre(share, Pair("tile_over_library", 2. / 3)));
  EXPECT_THAT(told_of_step({.runge_kutta = RungeKutta::classical}),
              UnorderedElementsAre(Pair("classical_over_horner", 2. / 3)));
  EXPECT_THAT(told_of_step({.metric = MetricSource::on_the_fly}),
              UnorderedElementsAre(Pair("on_the_fly_over_table", 2. / 3)));
}

TEST(SphereBeside, PartsOfATendencyAreSharesOfTheReferences) {
  Row row = beside_row(families::rhs, {});
  EXPECT_THAT(families::rhs.derived(row), IsEmpty());
  row.ranks_components = true;
  for (const Derived& part : families::rhs.derived(row))
    EXPECT_EQ(part.against, Variant::reference) << part.name;
  EXPECT_THAT(beside_three_seconds(row),
              UnorderedElementsAre(Pair("project_share", 3. / 2), Pair("gradient_share", 3. / 2),
                                   Pair("contravariant_share", 3. / 2),
                                   Pair("divergence_share", 3. / 2), Pair("sat_share", 3. / 2)));
}

TEST(SphereBeside, ALoopIsPutBesideAsManyStepsOrBesideOneThatIsNotWatched) {
  EXPECT_THAT(told_of_loop({.steps = 100}), UnorderedElementsAre(Pair("loop_speedup", 150.)));
  EXPECT_THAT(
      told_of_loop({.launch = Launch::graph_step, .steps = 100}),
      UnorderedElementsAre(Pair("loop_speedup", 150.), Pair("reference_loop_speedup", 150.)));
  EXPECT_THAT(told_of_loop({.diagnostics = Diagnostics::device, .steps = 100}),
              UnorderedElementsAre(Pair("diag_ratio", 2. / 3)));
}

TEST(SphereBeside, WhatIsPutBesideIsWhatTheMetricIsCalledAfter) {
  const Row step = beside_row(families::rk4_step, {});
  Row other = beside_row(families::rk4_step, {.precision = Precision::f32});
  EXPECT_EQ(bytes_beside(other, "f64_over_f32"), bytes_of(step));
  EXPECT_NE(bytes_of(other), bytes_of(step));
  other = beside_row(families::rk4_step, {.runge_kutta = RungeKutta::classical});
  EXPECT_EQ(bytes_beside(other, "classical_over_horner"), bytes_of(step));
  EXPECT_NE(bytes_of(other), bytes_of(step));
  EXPECT_EQ(bytes_beside(step, "rhs_share"), bytes_of(as(families::rhs, step)));
  EXPECT_NE(bytes_of(as(families::rhs, step)), bytes_of(step));
  const Row watched = beside_row(families::loop, {.diagnostics = Diagnostics::device, .steps = 9}),
            alone = beside_row(families::loop, {.steps = 9});
  EXPECT_EQ(bytes_beside(watched, "diag_ratio"), bytes_of(alone));
  EXPECT_NE(bytes_of(watched), bytes_of(alone));
}

// In 48 rows of 49 entries all but those near a border have four nonzeros.
TEST(SphereReadings, ADenseOperatorIsMostlyZeros) {
  const Row row = {.family = &families::component,
                   .n = 48,
                   .component = {.kind = Component::Kind::operator_apply, .op = Operator::dvc}};
  const auto metrics = case_of(row).metrics;
  ASSERT_EQ(metrics.size(), 1U);
  EXPECT_EQ(metrics[0].name, "dense_waste");
  EXPECT_NEAR(metrics[0].value.value_or(0), 1 - 4. / 49, 0.01);
}

// The published program's time for as many steps, over ours.
TEST(SphereBeside, APublishedLoopIsOfTheLoopsSteps) {
  Row row = beside_row(families::loop, {.launch = Launch::persistent, .steps = 10});
  EXPECT_THAT(families::loop.rates(row), IsEmpty());
  row.n = 192;
  EXPECT_THAT(rates_in_a_second(row), UnorderedElementsAre(Pair("vs_seed_loop", DoubleEq(8.5e-3))));
  // The published one stayed on its device, in double, without diagnostics.
  for (const Options& other :
       {Options{.steps = 10}, Options{.launch = Launch::graph_step, .steps = 10},
        Options{.launch = Launch::graph, .diagnostics = Diagnostics::device, .steps = 10},
        Options{.precision = Precision::f32, .launch = Launch::graph, .steps = 10}}) {
    row.options = other;
    EXPECT_THAT(families::loop.rates(row), IsEmpty());
  }
}

}  // namespace
}  // namespace holdfast::cubed_sphere_swe
