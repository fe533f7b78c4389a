// SPDX-License-Identifier: Apache-2.0
// Both variants of every pattern on the host against the oracle.
#include <gtest/gtest.h>

#include <cmath>

#include "xpcs_fit/patterns.hpp"
#include "xpcs_fit/testing/support.hpp"

namespace holdfast::xpcs_fit {
namespace {

constexpr Pattern patterns[] = {Pattern::angle_loop, Pattern::costs, Pattern::chunks,
                                Pattern::round_trip};

TEST(XpcsPatterns, AreRightInBothVariants) {
  for (const Mode mode : {Mode::at_rest, Mode::laminar}) {
    const Problem one = problem({3, 37}, {.mode = mode});
    for (const Pattern pattern : patterns)
      // A count that does not fill its tiles and cuts within rows.
      for (const int count : {1, 11}) {
        const auto backend = open_backend("host");
        for (const Variant variant : {Variant::reference, Variant::optimized})
          expect_pattern(pattern, count, *backend, variant, one);
      }
  }
}

TEST(XpcsPatterns, MakeEveryTurnOfARoundTrip) {
  const Problem one = problem({3, 37}, {});
  const auto backend = open_backend("host");
  for (const Variant variant : {Variant::reference, Variant::optimized})
    for (const int turns : {1, 50}) expect_every_turn(*backend, variant, one, turns);
}

TEST(XpcsPatterns, BeginWithTheTruth) {
  const std::vector<double> sets = parameter_sets(2, {}, 3);
  ASSERT_EQ(sets.size(), 18u);
  EXPECT_EQ(sets[2], 1000);
  EXPECT_NE(sets[11], 1000);
  EXPECT_NEAR(sets[11], 1000, 35);
}

// All other sets deviate by a hundredth in each parameter, to either side, so that their F differ.
TEST(XpcsPatterns, HaveSetsThatAreAPercentFromTheTruth) {
  constexpr int count = 200;
  const std::vector<double> known = truth({}, 3), sets = parameter_sets(count, {}, 3);
  double squares = 0;
  for (std::size_t k = known.size(); k < sets.size(); ++k) {
    const double off = sets[k] / known[k % known.size()] - 1;
    squares += off * off;
  }
  const double numbers = static_cast<double>((count - 1) * known.size());
  EXPECT_NEAR(std::sqrt(squares / numbers), 0.01, 5e-4);
}

}  // namespace
}  // namespace holdfast::xpcs_fit
