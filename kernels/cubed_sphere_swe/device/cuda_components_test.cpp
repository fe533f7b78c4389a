// SPDX-License-Identifier: Apache-2.0
// The parts of a tendency in both device variants: results on the emulated device, costs on the dry
// one.
#include <gtest/gtest.h>

#include <tuple>
#include <utility>
#include <vector>

#include "cubed_sphere_swe/problem/diagnostics.hpp"
#include "cubed_sphere_swe/problem/operators.hpp"
#include "cubed_sphere_swe/problem/sphere.hpp"
#include "cubed_sphere_swe/testing/support.hpp"
#include "cubed_sphere_swe/testing/turns.hpp"

namespace holdfast::cubed_sphere_swe {
namespace {

using Kind = Component::Kind;

struct Part {
  const char* name = "";
  Component component = {};
};
constexpr Part parts[] = {{"project", {.kind = Kind::project}},
                          {"gradient", {.kind = Kind::gradient}},
                          {"gradient1", {.kind = Kind::gradient, .components = 1}},
                          {"contravariant", {.kind = Kind::contravariant}},
                          {"divergence", {.kind = Kind::divergence}},
                          {"sat", {.kind = Kind::sat}}};

Problem random_part(const Component& component, int n) {
  Problem problem = random_problem(Unit::component, n);
  problem.component = component;
  return problem;
}

class EmulatedPart : public testing::TestWithParam<std::tuple<Variant, Part>> {
 protected:
  Variant variant = std::get<0>(GetParam());
  Component component = std::get<1>(GetParam()).component;
};
INSTANTIATE_TEST_SUITE_P(Parts, EmulatedPart,
                         testing::Combine(testing::ValuesIn(variants), testing::ValuesIn(parts)),
                         [](const auto& made) {
                           return name(std::get<0>(made.param)) + "_" +
                                  std::get<1>(made.param).name;
                         });

TEST_P(EmulatedPart, HasTheGoldenValues) {
  const auto result = after(1, variant, random_part(component, 8));
  const auto values = golden_component(component, result);
  ASSERT_FALSE(values.empty());
  expect_golden(values);
}

TEST_P(EmulatedPart, TheOrderInWhichThreadsAndBlocksRunChangesNoBit) {
  const Problem problem = random_part(component, variant == Variant::reference ? 8 : 17);
  EXPECT_EQ(after(1, variant, problem, {.order = emulation::Order::forward}),
            after(1, variant, problem, {.order = emulation::Order::backward}));
}

TEST_P(EmulatedPart, SinglePrecisionStaysCloseToDouble) {
  Problem problem = random_part(component, 9);
  const auto in_double = after(1, variant, problem);
  problem.options.precision = Precision::f32;
  const double apart = largest_difference(after(1, variant, problem), in_double);
  EXPECT_LT(apart, 2e-6 * largest(in_double));
  EXPECT_GT(apart, 1e-12 * largest(in_double));  // proves single precision
}

TEST_P(EmulatedPart, BeginsAgainWithTwiceItsInputs) {
  if (component.kind == Kind::sat) GTEST_SKIP() << "its steps are chained";
  const auto backend = emulated(variant);
  expect_turns(*make(*backend, variant, random_part(component, 9)));
}

class EmulatedPartPair : public testing::TestWithParam<Part> {};
INSTANTIATE_TEST_SUITE_P(Parts, EmulatedPartPair, testing::ValuesIn(parts),
                         [](const auto& made) { return made.param.name; });

// Nine is the smallest odd size, 13 is odd in one tile, 31 fills two tiles along x1 to the last
// row.
TEST_P(EmulatedPartPair, VariantsAgreeAtOddSizes) {
  for (const int n : {9, 13, 31}) {
    SCOPED_TRACE(n);
    const Problem problem = random_part(GetParam().component, n);
    const auto reference = after(1, Variant::reference, problem);
    EXPECT_LE(largest_difference(after(1, Variant::optimized, problem), reference),
              2e-15 * largest(reference));
  }
}

// A line of vertices, a panel and all borders take several blocks in either variant.
TEST_P(EmulatedPartPair, VariantsAgreeWhereALineIsSeveralBlocks) {
  const Problem problem = random_part(GetParam().component, 130);
  const auto reference = after(1, Variant::reference, problem);
  EXPECT_LE(largest_difference(after(1, Variant::optimized, problem), reference),
            4e-15 * largest(reference));
}

TEST(EmulatedParts, BatchedProjectionEqualsTheSequentialOneToTheLastBit) {
  const Problem problem = random_part({.kind = Kind::project}, 11);
  EXPECT_EQ(after(1, Variant::optimized, problem), after(1, Variant::reference, problem));
}

TEST(EmulatedParts, EachStepAddsThePenaltyOnceMore) {
  for (const Variant variant : variants) {
    SCOPED_TRACE(name(variant));
    const Problem problem = random_part({.kind = Kind::sat}, 8);
    const auto none = after(0, variant, problem), once = after(1, variant, problem),
               twice = after(2, variant, problem);
    std::vector<double> expected;
    for (std::size_t i = 0; i < none.size(); ++i) expected.push_back(2 * once[i] - none[i]);
    EXPECT_LE(largest_difference(twice, expected), 1e-14 * largest(twice));
    EXPECT_GT(largest_difference(once, none), 1);
  }
}

TEST(EmulatedParts, OperatorsAreTheirDenseMatrices) {
  for (const Operator op : {Operator::dcv, Operator::dvc, Operator::pcv, Operator::pvc})
    for (const int direction : {1, 2})
      for (const Variant variant : variants)
        for (const GemmSource gemm : {GemmSource::library, GemmSource::tile}) {
          if (variant == Variant::optimized && gemm == GemmSource::tile) continue;
          constexpr int n = 11;
          SCOPED_TRACE(
              text("operator ", static_cast<int>(op), " along x", direction, ", ", name(variant)));
          Problem problem =
              random_part({.kind = Kind::operator_apply, .op = op, .direction = direction}, n);
          problem.options.gemm = gemm;
          const auto& field = op == Operator::dvc || op == Operator::pvc ? problem.start.h
                              : direction == 1                           ? problem.start.v1
                                                                         : problem.start.v2;
          const auto expected = apply(op, direction, n, field);
          EXPECT_LE(largest_difference(after(1, variant, problem), expected),
                    1e-15 * largest(expected));
        }
}

// Two tiles in either direction, neither a whole one, and five portions of terms.
TEST(EmulatedParts, TiledMatrixProductsReachBeyondATile) {
  constexpr int n = 70;
  for (const auto& [op, direction] : {std::pair{Operator::dcv, 1}, {Operator::pvc, 2}}) {
    Problem problem =
        random_part({.kind = Kind::operator_apply, .op = op, .direction = direction}, n);
    problem.options.gemm = GemmSource::tile;
    const auto expected =
        apply(op, direction, n, direction == 1 ? problem.start.v1 : problem.start.h);
    EXPECT_LE(largest_difference(after(1, Variant::reference, problem), expected),
              1e-15 * largest(expected));
  }
}

TEST(EmulatedParts, TiledMatrixProductsGiveTheGoldenTendency) {
  Problem problem = random_problem(Unit::rhs, 8);
  problem.options.gemm = GemmSource::tile;
  expect_golden(golden_tendency(as_state({8}, after(1, Variant::reference, problem))));
}

class DryPart : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Architectures, DryPart, testing::Values(90),
                         [](const auto& sm) { return text("sm_", sm.param); });
INSTANTIATE_TEST_SUITE_P(Nightly, DryPart, testing::Values(80, 100),
                         [](const auto& sm) { return text("sm_", sm.param); });

TEST_P(DryPart, LaunchesAndCopiesAreExactlyThoseOfTheDerivation) {
  struct Expected {
    Component component;
    int launches, library_calls, copies;
  };
  for (const auto& [component, launches, library_calls, copies] :
       {Expected{{.kind = Kind::operator_apply}, 1, 1, 0},
        Expected{{.kind = Kind::project}, 48, 0, 1}, Expected{{.kind = Kind::gradient}, 2, 2, 0},
        Expected{{.kind = Kind::gradient, .components = 1}, 1, 1, 0},
        Expected{{.kind = Kind::contravariant}, 8, 4, 0},
        Expected{{.kind = Kind::divergence}, 2, 2, 0}, Expected{{.kind = Kind::sat}, 108, 0, 0}}) {
    SCOPED_TRACE(static_cast<int>(component.kind));
    const Counts dense = DryRun(GetParam(), Variant::reference, random_part(component, 24)).step();
    EXPECT_EQ(dense.launches, launches);
    EXPECT_EQ(dense.library_calls, library_calls);
    EXPECT_EQ(dense.copies, copies);
    const Counts banded = DryRun(GetParam(), Variant::optimized, random_part(component, 24)).step();
    EXPECT_EQ(banded.launches, 1);
    EXPECT_EQ(banded.library_calls, 0);
    EXPECT_EQ(banded.copies, 0);
    for (const Counts& step : {dense, banded}) {
      EXPECT_EQ(step.h2d_bytes, 0);
      EXPECT_EQ(step.d2h_bytes, 0);
      EXPECT_EQ(step.allocations, 0);
    }
  }
}

TEST_P(DryPart, TiledMatrixProductsAreLaunchesOfOurOwn) {
  Problem problem = random_problem(Unit::rhs, 24);
  problem.options.gemm = GemmSource::tile;
  DryRun cost(GetParam(), Variant::reference, problem);
  const Counts step = cost.step();
  EXPECT_EQ(step.launches, 219);
  EXPECT_EQ(step.library_calls, 0);
  EXPECT_EQ(cost.setup.programs, 1);
}

TEST_P(DryPart, EveryPartComesFromTheProgramOfTheStep) {
  for (const Variant variant : variants) {
    SCOPED_TRACE(name(variant));
    DryRun cost(GetParam(), variant, random_problem(Unit::rk4_step, 24));
    for (const Part& part : parts) make(*cost.backend, variant, random_part(part.component, 31));
    EXPECT_EQ(cost.backend->ledger.counts.programs, 1);
  }
}

}  // namespace
}  // namespace holdfast::cubed_sphere_swe
