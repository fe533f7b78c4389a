// SPDX-License-Identifier: Apache-2.0
// The heap use of a step, which the ledger does not count, is less than a row of its grid.
#include <gtest/gtest.h>

#include <memory>

#include "cubed_sphere_swe/cubed_sphere_swe.hpp"
#include "cubed_sphere_swe/testing/support.hpp"
#include "runtime/count/heap.hpp"

namespace holdfast::cubed_sphere_swe {
namespace {

struct Heap : testing::TestWithParam<Variant> {
  static constexpr Size size = {48};
  static void expect_less_than_a_row(std::unique_ptr<Computation> computation) {
    const HeapWatch heap;
    for (int i = 0; i < 2; ++i) computation->step();  // the first may keep what it allocated
    EXPECT_LT(heap.peak_bytes(), sizeof(double) * size.n);
  }
  std::unique_ptr<Backend> backend = open_backend("host");
};
INSTANTIATE_TEST_SUITE_P(Of, Heap, testing::ValuesIn(variants),
                         [](const auto& variant) { return name(variant.param); });

TEST_P(Heap, HoldsNoRowOfATendency) {
  expect_less_than_a_row(make_rhs(*backend, GetParam(), size));
}
TEST_P(Heap, HoldsNoRowOfAStep) {
  for (const RungeKutta form : {RungeKutta::horner, RungeKutta::classical})
    expect_less_than_a_row(make_rk4_step(*backend, GetParam(), size, {.runge_kutta = form}));
}
TEST_P(Heap, HoldsNoRowOfALoop) {
  for (const Diagnostics mode : {Diagnostics::none, Diagnostics::device})
    expect_less_than_a_row(
        make_loop(*backend, GetParam(), size, {.diagnostics = mode, .steps = 9}));
}
TEST_P(Heap, HoldsNoRowOfAComponent) {
  using Kind = Component::Kind;
  for (const Kind kind : {Kind::operator_apply, Kind::project, Kind::gradient, Kind::contravariant,
                          Kind::divergence, Kind::sat})
    expect_less_than_a_row(make_component(*backend, GetParam(), size, {.kind = kind}));
}

}  // namespace
}  // namespace holdfast::cubed_sphere_swe
