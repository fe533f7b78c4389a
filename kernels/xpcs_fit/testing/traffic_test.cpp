// SPDX-License-Identifier: Apache-2.0
// What the optimized kernels access of device and shared memory, on the emulated device.
#include "testing/expect_traffic.hpp"
#include "xpcs_fit/strategies.hpp"
#include "xpcs_fit/testing/kernels_on_cpu.hpp"
#include "xpcs_fit/testing/support.hpp"

namespace holdfast::xpcs_fit {
namespace {

constexpr Size size = {3, 70};

void expect_accepted(Unit unit, const std::map<std::string, Accesses>& accepted) {
  const auto backend = emulated_optimized();
  const auto computation = make(unit, *backend, Variant::optimized, problem(size, {}));
  expect_traffic(*backend, *computation, accepted);
}

TEST(XpcsTraffic, OfTheModelAndResidualsIsAccepted) {
  expect_accepted(Unit::g2,
                  {{"model_values<double, 1>", {9017, 1.032}}, {"prefix<double>", {1008, 1.059}}});
  expect_accepted(Unit::residual, {{"prefix<double>", {1008, 1.059}},
                                   {"reduce", {11, 1}},
                                   {"residuals<double, 1>", {12731, 1.022}}});
}

// A block of `reduce` sums one number of all partial sums, which lie a set apart.
TEST(XpcsTraffic, OfNormalEquationsAndFitsIsAccepted) {
  expect_accepted(Unit::normal_equations, {{"pass<double, 1, 0>", {18135, 1.059}},
                                           {"prefix<double>", {1008, 1.059}},
                                           {"reduce", {495, 3}}});
  expect_accepted(Unit::fit, {{"pass<double, 1, 0>", {145080, 1.059}},
                              {"prefix<double>", {8064, 1.059}},
                              {"reduce", {3960, 3}},
                              {"step", {830, 1.116, 1.008}}});
}

TEST(XpcsTraffic, OfAFitInChunksIsAccepted) {
  const auto backend = emulated_optimized();
  const auto computation = make_fit(
      *backend, Variant::optimized, problem(size, {}),
      {.strategy = Strategy::chunked, .source = DataSource::host, .chunk = 4 * 210, .passes = 8});
  expect_traffic(*backend, *computation,
                 {{"add_batch", {5936, 1}},
                  {"pass<double, 1, 0>", {151768, 1.062}},
                  {"prefix<double>", {8064, 1.059}},
                  {"reduce", {31680, 2}},
                  {"step", {830, 1.116, 1.008}}});
}

}  // namespace
}  // namespace holdfast::xpcs_fit
