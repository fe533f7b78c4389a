// SPDX-License-Identifier: Apache-2.0
// The parts of a tendency on the host: golden values, the reference against dense matrices, the
// optimized form against the reference.
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "cubed_sphere_swe/problem/component_inputs.hpp"
#include "cubed_sphere_swe/problem/operators.hpp"
#include "cubed_sphere_swe/problem/sphere.hpp"
#include "cubed_sphere_swe/problem/words.hpp"
#include "cubed_sphere_swe/testing/support.hpp"
#include "cubed_sphere_swe/testing/turns.hpp"
#include "cubed_sphere_swe/variants.hpp"
#include "runtime/base/error.hpp"
#include "testing/expect_beginning_again.hpp"

namespace holdfast::cubed_sphere_swe {
namespace {

using Kind = Component::Kind;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

std::vector<Component> all_components() {
  std::vector<Component> all;
  for (const Operator op : {Operator::dcv, Operator::dvc, Operator::pcv, Operator::pvc})
    for (const int direction : {1, 2})
      all.push_back({.kind = Kind::operator_apply, .op = op, .direction = direction});
  for (const int components : {1, 2})
    all.push_back({.kind = Kind::gradient, .components = components});
  for (const Kind kind : {Kind::project, Kind::contravariant, Kind::divergence, Kind::sat})
    all.push_back({.kind = kind});
  return all;
}

std::string label(const Component& part) {
  std::string all(component_words.of(part.kind));
  if (part.kind == Kind::operator_apply)
    all += text("_", operator_words.of(part.op), "_along_x", part.direction);
  if (part.kind == Kind::gradient) all += text("_", part.components);
  return all;
}

// The result after `calls` steps on a fresh host backend.
std::vector<double> result_after(Variant variant, int n, const Component& part,
                                 const Options& options = {}, int calls = 1) {
  const auto backend = open_backend("host");
  return result_of(*make_component(*backend, variant, {n}, part, options), calls);
}

class HostComponents : public ::testing::TestWithParam<Component> {
 protected:
  std::unique_ptr<Backend> backend = open_backend("host");

  std::vector<double> after(Variant variant, int n, const Options& options = {}, int calls = 1) {
    return result_after(variant, n, GetParam(), options, calls);
  }
};
INSTANTIATE_TEST_SUITE_P(All, HostComponents, ::testing::ValuesIn(all_components()),
                         [](const auto& part) { return label(part.param); });

TEST_P(HostComponents, AtEightCellsAreGolden) {
  for (const Variant variant : {Variant::reference, Variant::optimized})
    expect_golden(golden_component(GetParam(), after(variant, 8)));
}

// Odd sizes, sizes of whole vectors and sizes below and above one.
TEST_P(HostComponents, OptimizedEqualTheReference) {
  for (const int n : {8, 9, 13, 16, 17, 24, 31})
    EXPECT_LE(difference(after(Variant::optimized, n), after(Variant::reference, n)), 2e-15) << n;
}

TEST_P(HostComponents, OptimizedEqualTheReferenceWhereThreadsShareThem) {
  EXPECT_LE(difference(after(Variant::optimized, 150), after(Variant::reference, 150)), 4e-15);
}

TEST_P(HostComponents, AgreeInSinglePrecision) {
  for (const int n : {8, 15, 16, 24}) {
    const auto exact = after(Variant::reference, n);
    for (const Variant variant : {Variant::reference, Variant::optimized}) {
      const double apart = difference(after(variant, n, {.precision = Precision::f32}), exact);
      EXPECT_LT(apart, 2e-6) << n;
      EXPECT_GT(apart, 1e-9) << n;  // proves single precision
    }
  }
}

TEST_P(HostComponents, BothInstructionSetsAgree) {
  if (host_limits().isa != "x86-64-v4") GTEST_SKIP() << "this CPU has one of the two";
  const Problem problem = {.unit = Unit::component,
                           .n = 13,
                           .dt = 1. / 39,
                           .component = GetParam(),
                           .start = initial_state({13}, Start::random)};
  const auto result = [](std::unique_ptr<Computation> part) { return result_of(*part); };
  const auto v3 = result(isa_v3::make_host_optimized(*backend, problem));
  EXPECT_LE(difference(result(isa_v4::make_host_optimized(*backend, problem)), v3), 2e-15);
  EXPECT_LE(difference(result(isa_v3::make_host_reference(*backend, problem)), v3), 2e-15);
}

TEST_P(HostComponents, RunsRepeatToTheLastBit) {
  for (const Variant variant : {Variant::reference, Variant::optimized})
    EXPECT_EQ(after(variant, 24, {}, 3), after(variant, 24, {}, 3));
}

TEST_P(HostComponents, EveryStepMakesTheSameOfTheSameInputs) {
  if (GetParam().kind == Kind::sat) GTEST_SKIP() << "each step adds the penalty once more";
  for (const Variant variant : {Variant::reference, Variant::optimized})
    EXPECT_EQ(after(variant, 13, {}, 3), after(variant, 13));
}

TEST_P(HostComponents, BeginsAgainWithTwiceItsInputs) {
  if (GetParam().kind == Kind::sat) GTEST_SKIP() << "its steps are chained";
  for (const Variant variant : {Variant::reference, Variant::optimized})
    for (const Precision precision : {Precision::f64, Precision::f32})
      expect_turns(*make_component(*backend, variant, {13}, GetParam(), {.precision = precision}));
}

TEST(HostSat, BeginsAgainWithTheSumItBeganWith) {
  const auto backend = open_backend("host");
  for (const Variant variant : {Variant::reference, Variant::optimized})
    expect_beginning_again(*make_component(*backend, variant, {13}, {.kind = Kind::sat}));
}

TEST_P(HostComponents, ASteadyStepAllocatesNothing) {
  for (const Variant variant : {Variant::reference, Variant::optimized}) {
    const auto part = make_component(*backend, variant, {13}, GetParam());
    part->step();
    backend->ledger.enter(Ledger::Phase::steady);
    EXPECT_NO_THROW(part->step());
    backend->ledger.enter(Ledger::Phase::building);
  }
}

// y[i][j] = sum_k A[i][k] x[k][j] along x1 and sum_k A[j][k] x[i][k] along x2, panel by panel.
std::vector<double> dense_product(Operator which, int direction, int n,
                                  const std::vector<double>& x) {
  const auto a = dense(which, n);
  const bool onto_vertices = which == Operator::dcv || which == Operator::pcv;
  const int rows = onto_vertices ? n + 1 : n, depth = onto_vertices ? n : n + 1, lines = n + 1;
  std::vector<double> y(std::size_t{6} * rows * lines);
  for (int panel = 0; panel < panels; ++panel)
    for (int row = 0; row < rows; ++row)
      for (int line = 0; line < lines; ++line)
        for (int k = 0; k < depth; ++k)
          if (direction == 1)
            y[(panel * rows + row) * lines + line] +=
                a[row * depth + k] * x[(panel * depth + k) * lines + line];
          else
            y[(panel * lines + line) * rows + row] +=
                a[row * depth + k] * x[(panel * lines + line) * depth + k];
  return y;
}

TEST(HostComponent, OperatorsAreTheirMatrices) {
  for (const int n : {9, 16}) {
    const State start = initial_state({n}, Start::random);
    for (const Operator op : {Operator::dcv, Operator::dvc, Operator::pcv, Operator::pvc})
      for (const int direction : {1, 2}) {
        const bool from_h = op == Operator::dvc || op == Operator::pvc;
        const auto& x = from_h ? start.h : direction == 1 ? start.v1 : start.v2;
        const auto expected = dense_product(op, direction, n, x);
        EXPECT_LE(difference(apply(op, direction, n, x), expected), 1e-15);
        const Component part = {.kind = Kind::operator_apply, .op = op, .direction = direction};
        EXPECT_LE(difference(result_after(Variant::optimized, n, part), expected), 1e-15)
            << operator_words.of(op) << direction;
      }
  }
}

TEST(HostComponent, OneGradientComponentIsTheFirstOfTwo) {
  for (const Variant variant : {Variant::reference, Variant::optimized}) {
    auto first = result_after(variant, 13, {.kind = Kind::gradient});
    first.resize(velocity_count(13));
    EXPECT_EQ(result_after(variant, 13, {.kind = Kind::gradient, .components = 1}), first);
  }
}

TEST(HostComponent, BatchedProjectionEqualsTheSequentialToTheLastBit) {
  for (const int n : {8, 13, 48}) {
    const auto batched = result_after(Variant::optimized, n, {.kind = Kind::project});
    EXPECT_EQ(batched, result_after(Variant::reference, n, {.kind = Kind::project}));
    EXPECT_EQ(batched, project(n, initial_state({n}, Start::random).h));
  }
}

TEST(HostComponent, BatchedPenaltiesEqualTheSequential) {
  const Component sat = {.kind = Kind::sat};
  for (const int n : {8, 13, 48})
    EXPECT_LE(difference(result_after(Variant::optimized, n, sat),
                         result_after(Variant::reference, n, sat)),
              1e-15)
        << n;
}

TEST(HostComponent, EachStepAddsThePenaltyOnceMore) {
  constexpr int n = 13;
  const Component sat = {.kind = Kind::sat};
  const auto divergence =
      component_inputs(n, MetricSign::correct, initial_state({n}, Start::random)).divergence;
  for (const Variant variant : {Variant::reference, Variant::optimized}) {
    EXPECT_EQ(result_after(variant, n, sat, {}, 0), divergence);
    const auto once = result_after(variant, n, sat);
    auto thrice = result_after(variant, n, sat, {}, 3);
    for (std::size_t k = 0; k < thrice.size(); ++k) thrice[k] -= 2 * (once[k] - divergence[k]);
    EXPECT_LE(difference(thrice, once), 1e-14);
    EXPECT_GT(difference(once, divergence), 0.1);
  }
}

TEST(HostComponent, TheUpstreamMetricChangesWhatItIsIn) {
  const Options upstream = {.q12 = MetricSign::upstream};
  for (const Kind kind : {Kind::contravariant, Kind::divergence}) {
    const auto optimized = result_after(Variant::optimized, 13, {.kind = kind}, upstream);
    EXPECT_LE(difference(optimized, result_after(Variant::reference, 13, {.kind = kind}, upstream)),
              2e-15);
    EXPECT_GT(difference(optimized, result_after(Variant::optimized, 13, {.kind = kind})), 0.1);
  }
}

TEST(HostComponent, WhatDoesNotExistIsRefused) {
  const auto backend = open_backend("host");
  const auto refused = [&](Component part, const Options& options, const char* why) {
    EXPECT_THAT([&] { make_component(*backend, Variant::optimized, {8}, part, options); },
                ThrowsMessage<Error>(HasSubstr(why)));
  };
  refused({.kind = Kind::operator_apply, .op = Operator::adjoint}, {}, "unknown operator");
  refused({.kind = Kind::operator_apply, .direction = 3}, {}, "unknown direction 3");
  refused({.kind = Kind::gradient, .components = 0}, {}, "unknown number of gradient components");
  refused({.kind = Kind::sat}, {.q12 = MetricSign::upstream}, "identity 3");
  EXPECT_EQ(backend->ledger.counts.allocations, 0);
}

// Values moved, as the roofline of each part counts them: H = 6 (n+1)^2, V = 6 n (n+1).
TEST(HostComponent, WorkCountsTheFieldsThatMustMove) {
  constexpr double h = 6. * 385 * 385, v = 6. * 384 * 385;
  const auto bytes = [](Component part, Precision precision = Precision::f64) {
    return component_work({384}, part, {.precision = precision}).bytes;
  };
  EXPECT_EQ(bytes({.kind = Kind::operator_apply}), 8 * (h + v));
  EXPECT_EQ(bytes({.kind = Kind::project}), 8 * 2 * 24. * 385);  // inner points stay
  EXPECT_EQ(bytes({.kind = Kind::gradient, .components = 1}), 8 * (h + v));
  EXPECT_EQ(bytes({.kind = Kind::gradient}), 8 * (h + 2 * v));
  EXPECT_EQ(bytes({.kind = Kind::contravariant}), 8 * (4 * v + 385 * 385 + 4. * 384 * 385));
  EXPECT_EQ(bytes({.kind = Kind::divergence}), 8 * (2 * v + h));
  EXPECT_EQ(bytes({.kind = Kind::sat}), 8 * 11. * 24 * 385);
  EXPECT_EQ(bytes({.kind = Kind::divergence}, Precision::f32), 4 * (2 * v + h));
}

// A value of an operator takes seven operations; a border point takes two extrapolations (five
// each), an interpolation, and nine operations for its flux, F* and sum.
TEST(HostComponent, WorkCountsTheOperationsOfAPhase) {
  constexpr double h = 6. * 385 * 385, v = 6. * 384 * 385, border = 24. * 385;
  const auto flops = [](Component part) {
    const Work work = component_work({384}, part, {.precision = Precision::f32});
    EXPECT_EQ(work.phases, 1);
    EXPECT_EQ(work.precision, Precision::f32);
    return work.flops;
  };
  EXPECT_EQ(flops({.kind = Kind::operator_apply, .op = Operator::pcv}), 7 * h);
  EXPECT_EQ(flops({.kind = Kind::operator_apply, .op = Operator::dvc}), 7 * v);
  EXPECT_EQ(flops({.kind = Kind::project}), 2 * border);
  EXPECT_EQ(flops({.kind = Kind::gradient, .components = 1}), 8 * v);
  EXPECT_EQ(flops({.kind = Kind::gradient}), 2 * 8 * v);
  EXPECT_EQ(flops({.kind = Kind::contravariant}), 2 * (8 * h + 10 * v));
  EXPECT_EQ(flops({.kind = Kind::divergence}), 15 * h);
  EXPECT_EQ(flops({.kind = Kind::sat}), 26 * border);
}

}  // namespace
}  // namespace holdfast::cubed_sphere_swe
