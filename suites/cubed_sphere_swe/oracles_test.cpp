// SPDX-License-Identifier: Apache-2.0
// The allowed error of a result against its oracle, and the invariants after the timed section.
#include "cubed_sphere_swe/oracles.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <memory>
#include <utility>

#include "cubed_sphere_swe/problem/sphere.hpp"
#include "harness/measure/correctness.hpp"
#include "runtime/base/error.hpp"
#include "testing/results.hpp"

namespace holdfast::cubed_sphere_swe {
namespace {

using Kind = Component::Kind;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

Row loop_of(int steps, Precision precision) {
  return {.family = &families::loop, .n = 8, .options = {.precision = precision, .steps = steps}};
}

double error_of_loop(const Row& row, const Oracle& known) {
  const auto backend = open_backend("host");
  return error_of(known, result_of(*make(row, *backend, Variant::optimized)), known.expected(1));
}

TEST(Oracle, AllowsALongLoopTheRoundingThatAddsUpInIt) {
  const Row row = loop_of(10000, Precision::f32);
  const Oracle known = families::loop.oracle(row);
  EXPECT_LE(error_of_loop(row, known), known.limit);
}

TEST(Oracle, AllowsALoopOfTheListNoMoreThanAStep) {
  for (const Precision precision : {Precision::f32, Precision::f64})
    EXPECT_EQ(families::loop.oracle(loop_of(100, precision)).limit, accuracy(precision));
}

TEST(Oracle, HoldsAResultToWhatItsPrecisionLeaves) {
  for (const auto& [precision, limit] : {std::pair{Precision::f64, 1e-13}, {Precision::f32, 2e-5}})
    for (const Family<Row>* family : {&families::rhs, &families::rk4_step, &families::component}) {
      const Row row = {.family = family, .options = {.precision = precision}};
      EXPECT_EQ(family->oracle(row).limit, limit);
    }
}

TEST(Oracle, IsTheDenseComputationWhereverThatIsAffordable) {
  const auto name = [](const Family<Row>& family, int n) {
    return family.oracle({.family = &family, .n = n}).name;
  };
  for (const int n : {48, 192}) EXPECT_THAT(name(families::loop, n), StartsWith("dense"));
  for (const int n : {48, 384}) EXPECT_THAT(name(families::rhs, n), StartsWith("dense"));
  EXPECT_THAT(name(families::loop, 384), StartsWith("banded"));
}

TEST(Oracle, KnowsEachTimeStepApart) {
  const auto expected = [](double dt) {
    const Row row = {.family = &families::rk4_step, .n = 8, .options = {.dt = dt}};
    return families::rk4_step.oracle(row).expected(1);
  };
  EXPECT_NE(expected(0.01), expected(0.02));
}

TEST(Oracle, LooksAtEachFieldByItsOwnSize) {
  const std::size_t h = height_count(9), v = velocity_count(9);
  const auto parts = [](const Family<Row>& family, Kind kind = Kind::gradient) {
    const Row row = {.family = &family, .n = 9, .component = {.kind = kind}};
    return family.oracle(row).parts;
  };
  for (const auto* family : {&families::rhs, &families::rk4_step, &families::loop})
    EXPECT_THAT(parts(*family), ElementsAre(h, v, v));
  EXPECT_THAT(parts(families::component), ElementsAre(v, v));
  EXPECT_THAT(parts(families::component, Kind::sat), ElementsAre(h));
}

// The error on the smallest grid of a row, whose family may compute it wrongly.
double small_error(const Row& row) {
  const auto backend = open_backend("host");
  return row.family->oracle(row).golden(*backend, Variant::optimized);
}

// Another start or time step than that of the golden values.
TEST(Oracle, FindsThatGoldenValuesAreMissed) {
  Family<Row> longer = families::rk4_step, elsewhere = families::rhs;
  longer.make = [](const Row& row, Backend& backend, Variant variant) {
    return make_rk4_step(backend, variant, {row.n}, {.dt = 0.04});
  };
  elsewhere.make = [](const Row& row, Backend& backend, Variant variant) {
    return make_rhs(backend, variant, {row.n}, {.start = Start::face});
  };
  for (const auto* family : {&longer, &elsewhere}) {
    const Row row = {.family = family};
    EXPECT_THAT(row.family->oracle(row).name, HasSubstr("golden values"));
    EXPECT_GT(small_error(row), 1e-4);
  }
}

// Golden values exist for one start and one time step; for others the dense computation is used.
TEST(Oracle, AsksForGoldenValuesOnlyWhereThereAreSome) {
  for (const Options& options :
       {Options{.start = Start::face}, Options{.dt = 0.01}, Options{.q12 = MetricSign::upstream}})
    for (const auto* family : {&families::rhs, &families::rk4_step, &families::loop}) {
      const Row row = {.family = family, .options = options};
      EXPECT_THAT(row.family->oracle(row).name, Not(HasSubstr("golden")));
      EXPECT_LE(small_error(row), accuracy(row));
    }
}

TEST(Oracle, AllowsASmoothStartMoreRoundingAndMoreOnTheFinestGrids) {
  const auto limit = [](int n, Start start) {
    const Row row = {.family = &families::rk4_step, .n = n, .options = {.start = start}};
    return families::rk4_step.oracle(row).limit;
  };
  EXPECT_EQ(limit(768, Start::random), limit(24, Start::random));
  EXPECT_EQ(limit(48, Start::mode1), 8 * limit(48, Start::random));
  EXPECT_EQ(limit(768, Start::mode1), 32 * limit(48, Start::random));
}

TEST(Steps, HaveTheirPeakByFormula) {
  EXPECT_TRUE(steps_of(Row{.family = &families::rk4_step}).estimate_bytes);
}

// An invariant's verdict on a result that `change` made from the previous one.
template <class Change>
std::string said_of(const Row& row, Change change) {
  const auto backend = open_backend("host");
  const auto computation = make(row, *backend, Variant::optimized);
  const std::vector<double> before = result_of(*computation);
  std::vector<double> after = result_of(*computation);
  change(before, after);
  return row.family->invariant(row)(before, after).value_or("");
}
using Values = std::vector<double>;

struct AfterAStep : testing::TestWithParam<Precision> {
  Row row = {.family = &families::rk4_step, .n = 9, .options = {.precision = GetParam()}};
};
INSTANTIATE_TEST_SUITE_P(Of, AfterAStep, testing::Values(Precision::f32, Precision::f64),
                         [](const auto& one) { return std::string(name(one.param)); });

TEST_P(AfterAStep, AllIsWell) {
  EXPECT_EQ(said_of(row, [](const Values&, Values&) {}), "");
}
TEST_P(AfterAStep, MassThatCameFromNowhereIsFound) {
  const auto rain = [](const Values&, Values& after) {
    for (std::size_t i = 0; i < height_count(9); ++i) after[i] += 1e-4;
  };
  EXPECT_THAT(said_of(row, rain), HasSubstr("mass went from"));
}
// Small relative to heights of about one: f64 allows 1e-12 of them, f32 1e-5.
TEST_P(AfterAStep, ADrizzleIsFoundAsItsPrecisionTells) {
  const double allowed = GetParam() == Precision::f32 ? 1e-5 : 1e-12;
  const auto rain = [&](double share) {
    return said_of(row, [&](const Values&, Values& after) {
      for (std::size_t i = 0; i < height_count(9); ++i) after[i] += share * allowed;
    });
  };
  EXPECT_EQ(rain(0.01), "");
  EXPECT_THAT(rain(1), HasSubstr("mass went from"));
}
TEST_P(AfterAStep, EnergyThatStayedIsFound) {
  const auto idle = [](const Values& before, Values& after) { after = before; };
  EXPECT_THAT(said_of(row, idle), HasSubstr("energy went from"));
}
TEST_P(AfterAStep, EnergyThatGrewIsFound) {
  const auto force = [](const Values&, Values& after) {
    for (std::size_t i = height_count(9); i < after.size(); ++i) after[i] *= 1.5;
  };
  EXPECT_THAT(said_of(row, force), HasSubstr("energy went from"));
}

// Smooth starts and short steps, whose energy loss drowns in rounding.
struct AfterAGentleStep : testing::TestWithParam<Options> {
  Row row = {.family = &families::rk4_step, .n = 9, .options = GetParam()};
};
INSTANTIATE_TEST_SUITE_P(Of, AfterAGentleStep,
                         testing::Values(Options{.start = Start::seed}, Options{.dt = 1e-3},
                                         Options{.start = Start::mode1,
                                                 .precision = Precision::f32}),
                         [](const auto& one) { return text("case_", one.index); });

TEST_P(AfterAGentleStep, AllIsWell) {
  EXPECT_FALSE(loses_energy(row));
  EXPECT_EQ(said_of(row, [](const Values&, Values&) {}), "");
}
TEST_P(AfterAGentleStep, AStateThatStayedIsFound) {
  const auto idle = [](const Values& before, Values& after) { after = before; };
  EXPECT_THAT(said_of(row, idle), HasSubstr("no value moved"));
}
TEST_P(AfterAGentleStep, EnergyThatGrewIsFound) {
  const auto force = [](const Values&, Values& after) {
    for (std::size_t i = height_count(9); i < after.size(); ++i) after[i] *= 1.5;
  };
  EXPECT_THAT(said_of(row, force), HasSubstr("no step adds any"));
}

// For a mode, which has no mass.
TEST(AGentleStep, IsWrongWhereItsEnergyGrewByMoreThanRounding) {
  for (const Precision precision : {Precision::f32, Precision::f64}) {
    const double allowed = precision == Precision::f32 ? 1e-4 : 1e-9;
    const Row row = {.family = &families::rk4_step,
                     .n = 9,
                     .options = {.start = Start::mode1, .precision = precision}};
    const auto grown = [&](double share) {
      return said_of(row, [&](const Values& before, Values& after) {
        after = before;
        for (double& value : after) value *= 1 + share * allowed / 2;
      });
    };
    EXPECT_EQ(grown(0.9), "");
    EXPECT_THAT(grown(1.1), HasSubstr("no step adds any"));
  }
}

// As long as a timed section: rounding must not look like energy.
TEST(AfterManyGentleSteps, AllIsWell) {
  for (const Precision precision : {Precision::f32, Precision::f64})
    for (const Start start : {Start::seed, Start::mode2}) {
      const Row row = {.family = &families::loop,
                       .n = 9,
                       .options = {.start = start, .precision = precision, .steps = 5000}};
      EXPECT_EQ(said_of(row, [](const Values&, Values&) {}), "");
    }
}

Row part_of(Kind kind) {
  return {.family = &families::component, .n = 9, .component = {.kind = kind}};
}

TEST(AfterAPenalty, NothingButWholePenaltiesIsRight) {
  const Row row = part_of(Kind::sat);
  EXPECT_EQ(said_of(row, [](const Values&, Values&) {}), "");
  const auto none = [](const Values& before, Values& after) { after = before; };
  const auto half = [](const Values& before, Values& after) {
    for (std::size_t i = 0; i < after.size(); ++i) after[i] = (before[i] + after[i]) / 2;
  };
  const auto no_corner = [](const Values& before, Values& after) { after[0] = before[0]; };
  EXPECT_THAT(said_of(row, none), HasSubstr("no multiple of the penalty"));
  EXPECT_THAT(said_of(row, half), HasSubstr("no multiple of the penalty"));
  EXPECT_THAT(said_of(row, no_corner), HasSubstr("no multiple of the penalty"));
}

TEST(AfterOneMoreOfTheSame, TheSlightestChangeIsFound) {
  const auto touch = [](const Values&, Values& after) { after[3] = std::nextafter(after[3], 9); };
  for (const Row& row : {part_of(Kind::gradient), Row{.family = &families::rhs, .n = 9}}) {
    EXPECT_EQ(said_of(row, [](const Values&, Values&) {}), "");
    EXPECT_NE(said_of(row, touch), "");
  }
  const auto push = [](const Values&, Values& after) { after[3] += 1e-12; };
  EXPECT_NE(said_of(part_of(Kind::project), push), "");
}

}  // namespace
}  // namespace holdfast::cubed_sphere_swe
