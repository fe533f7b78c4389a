// SPDX-License-Identifier: Apache-2.0
// What a fit must at least do is that of its passes.
#include <gtest/gtest.h>

#include "xpcs_fit/problem/fit.hpp"
#include "xpcs_fit/xpcs_fit.hpp"

namespace holdfast::xpcs_fit {
namespace {

struct Passes {
  Unit unit;
  Mode mode;
  double count;
};
constexpr Passes fits[] = {{Unit::fit, Mode::at_rest, accounted_passes},
                           {Unit::fit, Mode::laminar, accounted_passes},
                           {Unit::converged_fit, Mode::at_rest, 5},
                           {Unit::converged_fit, Mode::laminar, 6}};

TEST(XpcsWork, OfAFitIsThatOfAsManyPassesAsArePublished) {
  const Size size = {10, 300};
  for (const Passes& of : fits) {
    const Work all = work(of.unit, size, {.mode = of.mode});
    const Work one = work(Unit::normal_equations, size, {.mode = of.mode});
    EXPECT_DOUBLE_EQ(all.flops / one.flops, of.count);
    EXPECT_DOUBLE_EQ(all.bytes / one.bytes, of.count);
    // A step besides integrals, pass and sums.
    EXPECT_DOUBLE_EQ(all.phases / (one.phases + 1), of.count);
  }
}

}  // namespace
}  // namespace holdfast::xpcs_fit
