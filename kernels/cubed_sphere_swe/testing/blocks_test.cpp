// SPDX-License-Identifier: Apache-2.0
// The host variants with too many threads for each to take whole panels, so that a panel is divided
// into blocks of rows; and the masses of a loop, computed by such blocks.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "cubed_sphere_swe/problem/stages.hpp"
#include "cubed_sphere_swe/testing/support.hpp"
#include "runtime/backend/host_limits.hpp"

namespace holdfast::cubed_sphere_swe {
namespace {

using Kind = Component::Kind;

constexpr int sizes[] = {16, 41, 48};
constexpr Precision precisions[] = {Precision::f64, Precision::f32};

double rounding(Precision precision) {
  return precision == Precision::f32 ? 1e-5 : 1e-13;
}

struct Blocks : testing::TestWithParam<int> {
  void SetUp() override {
    if (host_blocks_per_panel(GetParam(), host_limits().threads) == 1)
      GTEST_SKIP() << "with " << host_limits().threads << " threads a panel is one block";
  }
  std::unique_ptr<Backend> backend = open_backend("host");
};

TEST_P(Blocks, OfATendencyMeet) {
  const Size size = {GetParam()};
  for (const Precision precision : precisions) {
    const Options options = {.precision = precision};
    const auto made = [&](Variant variant) {
      return state_after(make_rhs(*backend, variant, size, options), size);
    };
    EXPECT_LT(difference(made(Variant::optimized), made(Variant::reference)), rounding(precision));
  }
}

TEST_P(Blocks, OfStepsMeetInEitherForm) {
  const Size size = {GetParam()};
  for (const Precision precision : precisions)
    for (const RungeKutta form : {RungeKutta::horner, RungeKutta::classical}) {
      const Options options = {.precision = precision, .runge_kutta = form};
      const auto made = [&](Variant variant) {
        return state_after(make_rk4_step(*backend, variant, size, options), size, 5);
      };
      EXPECT_LT(difference(made(Variant::optimized), made(Variant::reference)),
                rounding(precision));
    }
}

TEST_P(Blocks, OfEveryComponentMeet) {
  const Size size = {GetParam()};
  std::vector<Component> components;
  for (const Operator op : {Operator::dcv, Operator::dvc, Operator::pcv, Operator::pvc})
    for (const int direction : {1, 2})
      components.push_back({.kind = Kind::operator_apply, .op = op, .direction = direction});
  for (const Kind kind :
       {Kind::project, Kind::gradient, Kind::contravariant, Kind::divergence, Kind::sat})
    components.push_back({.kind = kind});
  for (const Component& component : components) {
    const auto made = [&](Variant variant) {
      return result_of(*make_component(*backend, variant, size, component, {}));
    };
    EXPECT_LT(difference(made(Variant::optimized), made(Variant::reference)), 1e-13)
        << static_cast<int>(component.kind) << " " << static_cast<int>(component.op) << " "
        << component.direction;
  }
}

INSTANTIATE_TEST_SUITE_P(Of, Blocks, testing::ValuesIn(sizes), testing::PrintToStringParamName());

// The drift after each step, from single steps.
std::vector<double> drifts_of_steps(Variant variant, Size size, const Options& options) {
  const auto backend = open_backend("host");
  const auto step = make_rk4_step(*backend, variant, size, options);
  const double start = mass(size, as_state(size, step->result()).h);
  std::vector<double> drifts;
  for (int k = 0; k < options.steps; ++k) {
    drifts.push_back(relative_drift(mass(size, as_state(size, result_of(*step)).h), start));
  }
  return drifts;
}

// Shortens the list until its last drift is not the largest.
void end_below_the_largest(std::vector<double>& drifts) {
  while (!drifts.empty() && drifts.back() == *std::max_element(drifts.begin(), drifts.end()))
    drifts.pop_back();
}

// In f32, where drifts rise and fall.
TEST(WatchedLoop, TellsTheLargestDriftOfAllItsSteps) {
  for (const int n : sizes)
    for (const Variant variant : variants) {
      Options options = {.start = Start::face,
                         .precision = Precision::f32,
                         .diagnostics = Diagnostics::device,
                         .steps = 40};
      std::vector<double> drifts = drifts_of_steps(variant, {n}, options);
      end_below_the_largest(drifts);
      ASSERT_FALSE(drifts.empty());
      options.steps = static_cast<int>(drifts.size());
      const auto backend = open_backend("host");
      const auto loop = make_loop(*backend, variant, {n}, options);
      loop->step();
      EXPECT_NEAR(loop->readings().at(0).value, *std::max_element(drifts.begin(), drifts.end()),
                  1e-13)
          << name(variant) << " " << n;
    }
}

}  // namespace
}  // namespace holdfast::cubed_sphere_swe
