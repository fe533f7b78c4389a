// SPDX-License-Identifier: Apache-2.0
// What the optimized kernels access of device and shared memory, on the emulated device.
#include "cubed_sphere_swe/testing/support.hpp"
#include "testing/expect_traffic.hpp"

namespace holdfast::cubed_sphere_swe {
namespace {

void expect_accepted(const Problem& problem, const std::map<std::string, Accesses>& accepted) {
  const auto backend = emulated(Variant::optimized);
  const auto computation = make(*backend, Variant::optimized, problem);
  expect_traffic(*backend, *computation, accepted);
}

TEST(CubedSphereTraffic, OfAStepIsAccepted) {
  expect_accepted(random_problem(Unit::rk4_step, 24), {{"stage<double>", {72153, 1.147, 1.001}}});
}

TEST(CubedSphereTraffic, OfAStepInSinglePrecisionWithoutTablesIsAccepted) {
  Problem problem = random_problem(Unit::rk4_step, 24);
  problem.options.precision = Precision::f32;
  problem.options.metric = MetricSource::on_the_fly;
  expect_accepted(problem, {{"stage<float, on_the_fly>", {54651, 1.239, 1.048}}});
}

TEST(CubedSphereTraffic, OfATendencyAndItsProjectionIsAccepted) {
  expect_accepted(random_problem(Unit::rhs, 24),
                  {{"project<double>", {1008, 2.177}}, {"stage<double>", {13806, 1.094, 1.001}}});
}

TEST(CubedSphereTraffic, OfOperatorsIsAccepted) {
  Problem problem = random_problem(Unit::component, 24);
  problem.component = {
      .kind = Component::Kind::operator_apply, .op = Operator::dvc, .direction = 1};
  expect_accepted(problem, {{"apply_operator<double>", {5292, 1}}});
  problem.component = {
      .kind = Component::Kind::operator_apply, .op = Operator::pcv, .direction = 2};
  expect_accepted(problem, {{"apply_operator<double>", {4800, 1.143}}});
}

TEST(CubedSphereTraffic, OfThePartsOfATendencyIsAccepted) {
  using Kind = Component::Kind;
  Problem problem = random_problem(Unit::component, 24);
  const auto part = [&](Kind kind) {
    problem.component = {.kind = kind};
    return problem;
  };
  expect_accepted(part(Kind::gradient), {{"gradient<double>", {10092, 1.08}}});
  expect_accepted(part(Kind::contravariant), {{"contravariant<double>", {18666, 1.049}}});
  expect_accepted(part(Kind::divergence), {{"divergence<double>", {9336, 1.069}}});
  expect_accepted(part(Kind::sat), {{"penalise<double>", {7460, 2.198}}});
}

// A persistent loop is left out: how often it reads the barrier that it spins at is chance.
TEST(CubedSphereTraffic, OfALoopThatKeepsItsMassOnTheDeviceIsAccepted) {
  Problem problem = random_problem(Unit::loop, 24);
  problem.options.steps = 1;
  problem.options.diagnostics = Diagnostics::device;
  expect_accepted(problem,
                  {{"mass<double>", {1971, 1.043}}, {"stage<double>", {72153, 1.147, 1.001}}});
}

}  // namespace
}  // namespace holdfast::cubed_sphere_swe
