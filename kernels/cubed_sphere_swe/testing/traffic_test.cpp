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
