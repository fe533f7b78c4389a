// SPDX-License-Identifier: Apache-2.0
// How far a result may be from its oracle.
#include "cubed_sphere_swe/oracles.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "harness/measure/correctness.hpp"

namespace holdfast::cubed_sphere_swe {
namespace {

Row loop_of(int steps, Precision precision) {
  return {.family = &families::loop, .n = 8, .options = {.precision = precision, .steps = steps}};
}

double error_of_loop(const Row& row, const Oracle& known) {
  const auto backend = open_backend("host");
  const auto loop = make(row, *backend, Variant::optimized);
  loop->step();
  return error_of(known, loop->result(), known.expected(1));
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

}  // namespace
}  // namespace holdfast::cubed_sphere_swe
