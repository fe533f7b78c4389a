// SPDX-License-Identifier: Apache-2.0
// The minimum work of a step against the published numbers; for a fit, that of its passes.
#include <gtest/gtest.h>

#include "xpcs_fit/patterns.hpp"
#include "xpcs_fit/problem/fit.hpp"
#include "xpcs_fit/spectrum.hpp"
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
    // A step in addition to integrals, pass and sums.
    EXPECT_DOUBLE_EQ(all.phases / (one.phases + 1), of.count);
  }
}

// Multiply-adds per point and per pair of frames; values moved per point.
struct PublishedWork {
  Unit unit;
  Mode mode;
  Scaling scaling;
  double point, pair, values;
};
constexpr PublishedWork published_work[] = {
    {Unit::g2, Mode::laminar, Scaling::shared, 24, 46, 1},
    {Unit::g2, Mode::at_rest, Scaling::shared, 1, 25, 1},
    {Unit::residual, Mode::laminar, Scaling::shared, 26, 46, 2},
    {Unit::residual, Mode::at_rest, Scaling::shared, 2, 25, 2},
    {Unit::normal_equations, Mode::laminar, Scaling::shared, 52, 133, 1},
    {Unit::normal_equations, Mode::laminar, Scaling::per_angle, 100, 46, 1},
    {Unit::normal_equations, Mode::at_rest, Scaling::shared, 3, 65, 1},
};

TEST(XpcsWork, OfAPointIsPublished) {
  const Size size = {10, 300};
  const double points = 10. * 300 * 300;
  for (const PublishedWork& of : published_work)
    for (const Weights weights : {Weights::unit, Weights::array})
      for (const Precision precision : {Precision::f64, Precision::f32}) {
        const Work all = work(
            of.unit, size,
            {.mode = of.mode, .scaling = of.scaling, .weights = weights, .precision = precision});
        const bool weighted = weights == Weights::array && of.unit == Unit::normal_equations;
        EXPECT_DOUBLE_EQ(all.flops / points, 2 * (of.point + of.pair / 10));
        EXPECT_EQ(all.bytes / points,
                  (precision == Precision::f64 ? 8 : 4) * (of.values + (weighted ? 1 : 0)));
        EXPECT_EQ(all.phases, of.unit == Unit::g2 ? 2 : 3);
        EXPECT_EQ(all.precision, precision);
      }
}

// Sets of parameters share one reading of the data; loops move no data between their turns.
TEST(XpcsWork, OfAPatternIsThatOfItsCountAndOfOneReading) {
  const Size size = {10, 300};
  const double points = 10. * 300 * 300;
  const Work once = work(Unit::residual, size, {}), model = work(Unit::g2, size, {});
  const auto of = [&](Pattern pattern) { return work(pattern, 8, size, {}); };
  EXPECT_EQ(of(Pattern::costs).flops, 8 * once.flops);
  EXPECT_EQ(of(Pattern::costs).bytes, 8 * points);
  EXPECT_EQ(of(Pattern::angle_loop).flops, model.flops);
  EXPECT_EQ(of(Pattern::angle_loop).bytes, model.bytes);
  EXPECT_EQ(of(Pattern::chunks).flops, model.flops);
  EXPECT_EQ(of(Pattern::chunks).phases, 2 * 8);
  for (const Pattern pattern : {Pattern::round_trip, Pattern::turns}) {
    EXPECT_EQ(of(pattern).flops, 3 * 8 * points);
    EXPECT_EQ(of(pattern).bytes, 3 * 8 * points);  // data and model in, data out
    EXPECT_EQ(of(pattern).phases, 1);
  }
}

// Half a complex transform of as many points, and the square of each.
TEST(XpcsWork, OfASpectrumIsHalfATransform) {
  const Work all = spectrum_work(256);
  EXPECT_EQ(all.flops, 256 * 256 * (5 * 8 + 3.));  // 2^16 points
  EXPECT_EQ(all.bytes, 8. * 256 * 256);
  EXPECT_EQ(all.phases, 3);
}

}  // namespace
}  // namespace holdfast::xpcs_fit
