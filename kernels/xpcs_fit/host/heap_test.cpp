// SPDX-License-Identifier: Apache-2.0
// The heap memory of a step, which no ledger counts: nothing grows with the number of points.
#include <gtest/gtest.h>

#include <cstddef>

#include "runtime/count/heap.hpp"
#include "xpcs_fit/testing/support.hpp"
#include "xpcs_fit/xpcs_fit.hpp"

namespace holdfast::xpcs_fit {
namespace {

// Only integrals over frames use the heap: fewer than 20 arrays of frames at once.
TEST(XpcsHeap, HoldsNothingOfAStepThatGrowsWithItsPoints) {
  constexpr Size size = {2, 400};
  constexpr std::size_t array = sizeof(double) * size.frames;
  for (const Mode mode : {Mode::at_rest, Mode::laminar})
    for (const Unit unit : {Unit::g2, Unit::residual, Unit::normal_equations}) {
      const auto backend = open_backend("host");
      const auto computation =
          make(unit, *backend, Variant::optimized, problem(size, {.mode = mode}));
      computation->step();
      const HeapWatch heap;
      computation->step();
      EXPECT_LT(heap.peak_bytes(), 20 * array) << static_cast<int>(unit);
    }
}

}  // namespace
}  // namespace holdfast::xpcs_fit
