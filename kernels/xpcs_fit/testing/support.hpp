// SPDX-License-Identifier: Apache-2.0
// For tests: a problem of some size and form.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "testing/differences.hpp"
#include "testing/results.hpp"
#include "xpcs_fit/data/data.hpp"
#include "xpcs_fit/oracle/oracle.hpp"
#include "xpcs_fit/patterns.hpp"
#include "xpcs_fit/problem/problem.hpp"
#include "xpcs_fit/problem/starts.hpp"
#include "xpcs_fit/xpcs_fit.hpp"

namespace holdfast::xpcs_fit {

inline Problem problem(Size size, Options options, Physics physics, double noise = 0.01) {
  return {make_input({.size = size,
                      .physics = physics,
                      .noise = noise,
                      .weighted = options.weights == Weights::array},
                     options),
          options};
}
inline Problem problem(Size size, Options options, double noise = 0.01) {
  return problem(size, options, default_physics(size), noise);
}

// The same problem with an input of its own, which `change` has changed.
template <class Change>
Problem changed(const Problem& problem, const Change& change) {
  auto input = std::make_shared<Input>(*problem.input);
  change(*input);
  return {std::move(input), problem.options};
}
inline Problem at(const Problem& problem, const std::vector<double>& start) {
  return changed(problem, [&](Input& in) { in.box.start = start; });
}

// Modes, scalings, losses and weights: one at a time, and together.
inline constexpr Options every_form[] = {
    {},
    {.mode = Mode::at_rest},
    {.scaling = Scaling::per_angle},
    {.mode = Mode::at_rest, .scaling = Scaling::per_angle},
    {.loss = Loss::soft_l1, .loss_scale = 0.1},
    {.weights = Weights::array},
    {.mode = Mode::at_rest, .loss = Loss::soft_l1, .weights = Weights::array, .loss_scale = 0.1},
    {.scaling = Scaling::per_angle,
     .loss = Loss::soft_l1,
     .weights = Weights::array,
     .loss_scale = 0.1}};

// Offset and contrast at their upper bounds, where the model exceeds 2 near the diagonal; and a
// model below its floor far from it.
inline const std::vector<double> clipped_starts[] = {{1, 1.5, 1500, 0.3, 10, 3e-4, 0.1, 1e-5, 0},
                                                     {0.3, -0.1, 300, 0.3, 10, 3e-5, 0.1, 1e-6, 0}};

// Both rates fall below their floor: transport at time 0, where it rises as a power, shear from a
// hundred seconds on.
inline Problem with_floored_rates(Size size) {
  return at(problem(size, {}, {.dt = 10}), {0.5, 1.05, 1e-3, 1.6, 0, 1e3, -6, 0, 0});
}

// The contrast starts at its upper bound, below the truth, so that only the others move.
inline Problem with_resting_contrast(const Problem& one) {
  return changed(one, [](Input& in) { in.box.start[0] = in.box.upper[0] = 0.2; });
}

// Moves some points, each by an amount of its own, so that leaving one out or reading another in
// its place changes the cost.
inline Problem with_moved_points(const Problem& one, int count, unsigned seed) {
  return changed(one, [=](Input& in) {
    std::minstd_rand places(seed);
    for (int k = 0; k < count; ++k) in.data[places() % in.data.size()] += 1 + 0.1 * k;
  });
}

// Phases of a thousand are accurate to 1e-12. The plain formulation has phases on the diagonal,
// too.
inline void expect_phases_of_thousands(Backend& backend, Variant variant, Size size) {
  const Problem one = at(problem(size, {}), {1, 1, 1, 0, 0, 0.1, 0.4, 0, 0});
  const std::vector<double> expected = oracle::model(one, one.input->box.start);
  const std::vector<double> m = result_of(*make(Unit::g2, backend, variant, one));
  ASSERT_EQ(m.size(), expected.size());
  for (std::size_t k = 0; k < m.size(); ++k)
    if (k / size.frames % size.frames != k % size.frames) {
      ASSERT_NEAR(m[k], expected[k], 1e-14) << k;
    }
}

// The parameters of a fit, within this share of their deviations.
inline void expect_parameters(const std::vector<double>& fit, const oracle::Fit& expected,
                              double share) {
  for (std::size_t k = 0; k < expected.parameters.size(); ++k)
    EXPECT_NEAR(fit[3 + k], expected.parameters[k], share * expected.sigma[k]) << "parameter " << k;
}

inline void expect_pattern(Pattern pattern, int count, Backend& backend, Variant variant,
                           const Problem& one) {
  const std::vector<double> expected = exact(pattern, count, one),
                            found = result_of(*make(pattern, count, backend, variant, one), 2);
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t k = 0; k < found.size(); ++k)
    ASSERT_NEAR(found[k] / expected[k], 1, 2e-12)
        << static_cast<int>(pattern) << " " << count << " entry " << k;
}

// Whether x is `from` after `turns` turns, each with three roundings, or two with a fused
// multiply-add.
inline bool is_relaxed(double x, double from, double to, int turns) {
  double apart = from, together = from;
  for (int turn = 0; turn < turns; ++turn) {
    volatile double less = apart - to;  // prevents a fused multiply-add
    less = relaxation * less;
    apart -= less;
    together = std::fma(-relaxation, together - to, together);
  }
  return x == apart || x == together;
}

// Compared turn by turn, since a closed form has other last bits.
inline void expect_every_turn(Backend& backend, Variant variant, const Problem& one, int turns) {
  const std::vector<double> model = start_model(one);
  const std::vector<double> x = result_of(*make(Pattern::round_trip, turns, backend, variant, one));
  ASSERT_EQ(x.size(), model.size());
  for (std::size_t k = 0; k < x.size(); ++k)
    ASSERT_TRUE(is_relaxed(x[k], one.input->data[k], model[k], turns)) << k;
}

// Restarted from another start, equals a computation built with it; restarted again, equals itself.
inline void expect_turns(Unit unit, Backend& backend, Variant variant, const Problem& one) {
  const auto first = result_of(*make(unit, backend, variant, one)),
             second = result_of(*make(unit, backend, variant, at(one, start_of(one, 1))));
  EXPECT_NE(first, second);
  const auto computation = make(unit, backend, variant, one);
  for (const auto& [number, expected] : {std::pair{1, second}, {0, first}}) {
    computation->start_again(number);
    EXPECT_EQ(result_of(*computation), expected) << number;
  }
}

}  // namespace holdfast::xpcs_fit
