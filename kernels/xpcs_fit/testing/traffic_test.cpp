// SPDX-License-Identifier: Apache-2.0
// What the optimized kernels access of device and shared memory, on the emulated device.
#include "testing/expect_traffic.hpp"
#include "xpcs_fit/patterns.hpp"
#include "xpcs_fit/strategies.hpp"
#include "xpcs_fit/testing/kernels_on_cpu.hpp"
#include "xpcs_fit/testing/support.hpp"

namespace holdfast::xpcs_fit {
namespace {

constexpr Size size = {3, 70};

void expect_accepted(Unit unit, const std::map<std::string, Accesses>& accepted,
                     const Options& options = {}) {
  const auto backend = emulated_optimized();
  const auto computation = make(unit, *backend, Variant::optimized, problem(size, options));
  expect_traffic(*backend, *computation, accepted);
}
void expect_accepted(Pattern pattern, int count, const std::map<std::string, Accesses>& accepted) {
  const auto backend = emulated_optimized();
  const auto computation = make(pattern, count, *backend, Variant::optimized, problem(size, {}));
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

TEST(XpcsTraffic, OfOtherFormsIsAccepted) {
  expect_accepted(Unit::normal_equations,
                  {{"pass<double, 0, 0>", {10661, 1.049}},
                   {"prefix<double>", {506, 1.059}},
                   {"reduce", {189, 3}}},
                  {.mode = Mode::at_rest});
  expect_accepted(
      Unit::normal_equations,
      {{"pass<double, 1, 3>", {46110, 1.07}},
       {"prefix<double>", {1009, 1.06}},
       {"reduce", {1485, 3}}},
      {.scaling = Scaling::per_angle, .loss = Loss::soft_l1, .weights = Weights::array});
  expect_accepted(Unit::residual,
                  {{"prefix<double>", {506, 1.059}},
                   {"reduce", {11, 1}},
                   {"residuals<double, 0>", {9815, 1.013}}},
                  {.mode = Mode::at_rest});
  expect_accepted(Unit::g2,
                  {{"model_values<double, 0>", {6101, 1.021}}, {"prefix<double>", {506, 1.059}}},
                  {.mode = Mode::at_rest});
}

TEST(XpcsTraffic, OfPatternsIsAccepted) {
  expect_accepted(Pattern::costs, 8,
                  {{"costs<double, 1>", {46251, 1.044}},
                   {"prefix<double>", {8068, 1.059}},
                   {"reduce", {264, 3.667}}});
  expect_accepted(Pattern::chunks, 4,
                  {{"flat_model<double, 1>", {15590, 1.094}}, {"prefix<double>", {4032, 1.059}}});
  expect_accepted(Pattern::round_trip, 50, {{"relax<double>", {11025, 1}}});
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
