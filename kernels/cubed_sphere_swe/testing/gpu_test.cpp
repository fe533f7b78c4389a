// SPDX-License-Identifier: Apache-2.0
// Both variants on a real GPU.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "cubed_sphere_swe/cubed_sphere_swe.hpp"
#include "cubed_sphere_swe/problem/diagnostics.hpp"
#include "cubed_sphere_swe/problem/operators.hpp"
#include "cubed_sphere_swe/testing/support.hpp"
#include "runtime/backend/backend.hpp"
#include "runtime/base/error.hpp"
#include "testing/expect_values.hpp"
#include "testing/gpu_main.hpp"

namespace holdfast::cubed_sphere_swe {
namespace {

class CubedSphereOnGpu : public testing::TestWithParam<Variant> {
 protected:
  std::vector<double> after(int calls, const Size& size) {
    return result_of(*make_rk4_step(*backend, GetParam(), size), calls);
  }
  std::vector<double> after_loop(Launch launch, int steps) {
    return result_of(
        *make_loop(*backend, GetParam(), {.n = 48}, {.launch = launch, .steps = steps}), 2);
  }

  std::unique_ptr<Backend> backend = open_backend("cuda");
};
INSTANTIATE_TEST_SUITE_P(Variants, CubedSphereOnGpu,
                         testing::Values(Variant::reference, Variant::optimized),
                         [](const auto& variant) {
                           return variant.param == Variant::reference ? "reference" : "optimized";
                         });

TEST_P(CubedSphereOnGpu, TendencyHasTheGoldenValues) {
  const auto rhs = make_rhs(*backend, GetParam(), {.n = 8});
  expect_golden(golden_tendency(as_state({.n = 8}, result_of(*rhs))));
}

TEST_P(CubedSphereOnGpu, OneStepHasTheGoldenValues) {
  expect_golden(golden_step(as_state({.n = 8}, after(1, {.n = 8}))));
}

TEST_P(CubedSphereOnGpu, TenStepsHaveTheGoldenValues) {
  expect_golden(golden_ten_steps(as_state({.n = 8}, after(10, {.n = 8}))));
}

TEST_P(CubedSphereOnGpu, HundredStepsAgreeWithTheHost) {
  const auto host = open_backend("host");
  for (const int n : {24, 96}) {
    SCOPED_TRACE(n);
    const auto expected = make_loop(*host, Variant::optimized, {n});
    expect_values("after a hundred steps", after(100, {n}), result_of(*expected), 1e-13);
  }
}

TEST_P(CubedSphereOnGpu, TwoRunsAgreeToTheLastBit) {
  EXPECT_EQ(after(10, {.n = 96}), after(10, {.n = 96}));
}

TEST_P(CubedSphereOnGpu, ALoopEqualsItsStepsHoweverItIsLaunched) {
  for (const int steps : {1, 7}) {
    const auto expected = after(2 * steps, {.n = 48});
    for (const Launch launch : launches_of(GetParam())) {
      SCOPED_TRACE(text(steps, " steps, launch ", static_cast<int>(launch)));
      EXPECT_EQ(after_loop(launch, steps), expected);
    }
  }
}

TEST_P(CubedSphereOnGpu, MassStaysToRounding) {
  for (const Launch launch : launches_of(GetParam()))
    for (const Precision precision : {Precision::f64, Precision::f32}) {
      SCOPED_TRACE(static_cast<int>(launch));
      const auto loop = make_loop(*backend, GetParam(), {.n = 48},
                                  {.start = Start::face,
                                   .precision = precision,
                                   .launch = launch,
                                   .diagnostics = Diagnostics::device,
                                   .steps = 10});
      loop->step();
      loop->step();
      const auto readings = loop->readings();
      ASSERT_EQ(readings.size(), 1u);
      EXPECT_LE(readings.front().value, precision == Precision::f64 ? 1e-14 : 1e-6);
    }
}

TEST_P(CubedSphereOnGpu, ThePartsHaveTheGoldenValues) {
  using Kind = Component::Kind;
  for (const Component& part :
       {Component{.kind = Kind::project}, Component{.kind = Kind::gradient},
        Component{.kind = Kind::gradient, .components = 1}, Component{.kind = Kind::contravariant},
        Component{.kind = Kind::divergence}, Component{.kind = Kind::sat}}) {
    const auto computation = make_component(*backend, GetParam(), {.n = 8}, part);
    expect_golden(golden_component(part, result_of(*computation)));
  }
}

TEST_P(CubedSphereOnGpu, OperatorsAreTheirRows) {
  constexpr int n = 96;
  const State start = initial_state({.n = n}, Start::random);
  for (const Operator op : {Operator::dcv, Operator::dvc, Operator::pcv, Operator::pvc})
    for (const int direction : {1, 2})
      for (const GemmSource gemm : {GemmSource::library, GemmSource::tile}) {
        SCOPED_TRACE(text("operator ", static_cast<int>(op), " along x", direction));
        const auto computation = make_component(
            *backend, GetParam(), {.n = n},
            {.kind = Component::Kind::operator_apply, .op = op, .direction = direction},
            {.gemm = gemm});
        computation->step();
        const bool of_heights = op == Operator::dvc || op == Operator::pvc;
        const auto expected = apply(op, direction, n,
                                    of_heights       ? start.h
                                    : direction == 1 ? start.v1
                                                     : start.v2);
        expect_values("operator", computation->result(), expected, 1e-14 * largest(expected));
      }
}

TEST(OptimizedCubedSphereOnGpu, OptionsStayWithinRoundingOfTheDefault) {
  const auto backend = open_backend("cuda");
  const auto after_ten = [&](const Options& options) {
    return result_of(*make_rk4_step(*backend, Variant::optimized, {.n = 48}, options), 10);
  };
  const auto expected = after_ten({});
  for (const Options& options : {Options{.runge_kutta = RungeKutta::classical},
                                 Options{.metric = MetricSource::on_the_fly}}) {
    expect_values("after ten steps", after_ten(options), expected, 2e-14);
  }
}

}  // namespace
}  // namespace holdfast::cubed_sphere_swe

int main(int argc, char** argv) {
  return holdfast::gpu_main(argc, argv);
}
