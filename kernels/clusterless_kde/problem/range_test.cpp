// SPDX-License-Identifier: Apache-2.0
#include "clusterless_kde/problem/range.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "clusterless_kde/data/data.hpp"
#include "clusterless_kde/oracle/golden.hpp"
#include "clusterless_kde/oracle/oracle.hpp"
#include "clusterless_kde/problem/formulas.hpp"
#include "clusterless_kde/problem/preparation.hpp"

namespace holdfast::clusterless_kde {
namespace {

// Tmin from the oracle's densities.
double exact_lowest_floor(const Input& input) {
  double norm = -input.features / 2. * log_two_pi, scale = static_cast<double>(input.samples());
  for (const double s : input.feature_bandwidth) norm -= std::log(s);
  for (const double sigma : input.position_bandwidth) scale *= sigma * sqrt_two_pi;
  double lowest = INFINITY;
  for (const double o : oracle_encoding(input).occupancy)
    if (o > 0) lowest = std::min(lowest, log_rate_floor - norm + std::log(scale * o));
  return lowest;
}

TEST(LowestFloor, IsABoundWithinANat) {
  for (const Recipe& recipe :
       {Recipe{.size = Size::tiny}, Recipe{.size = Size::medium, .marks = Marks::cells},
        Recipe{.size = Size::small, .marks = Marks::whiten, .features = 8},
        Recipe{.size = Size::hpc2d, .marks = Marks::cells, .scale = 512}}) {
    const Input input = make_input(recipe);
    const double bound = lowest_floor(input), exact = exact_lowest_floor(input);
    EXPECT_LE(bound, exact);
    EXPECT_GE(bound, exact - 1);
  }
  EXPECT_LE(lowest_floor(golden::input()), exact_lowest_floor(golden::input()));
}

TEST(LowestFloor, LeavesOutPlacesThatWereNeverSeen) {
  Input input = golden::input();
  const double before = lowest_floor(input);
  input.places.push_back(1000);
  EXPECT_EQ(lowest_floor(input), before);
}

TEST(SinglePrecision, IsExceededExactlyWhereTheLowestFloorIsBelowItsReach) {
  Input input = golden::input();
  // Narrower marks raise the norm and lower every floor equally.
  const double room = exact_lowest_floor(input) - lowest_single;
  ASSERT_GT(room, 0);
  for (const double beyond : {-0.01, 0.01}) {
    input.feature_bandwidth = golden::input().feature_bandwidth;
    input.feature_bandwidth[0] *= std::exp(-(room + beyond));
    EXPECT_EQ(exceeds_single(input), beyond > 0);
  }
}

// Where double has no density left either, nothing is lost.
TEST(SinglePrecision, SufficesForPlacesThatWereNeverSeen) {
  Input input = golden::input();
  ASSERT_FALSE(exceeds_single(input));
  input.places.push_back(1000);
  EXPECT_FALSE(exceeds_single(input));
  input.decoding.positions.back() = 1000;
  EXPECT_FALSE(path_exceeds_single(input));
}

TEST(SinglePrecision, IsExceededWhereTheAnimalGoesFarFromWhereItWasEncoded) {
  Input input = golden::input();
  EXPECT_FALSE(path_exceeds_single(input));
  input.decoding.positions.back() = 60;  // 16 bandwidths beyond the track
  EXPECT_TRUE(path_exceeds_single(input));
}

}  // namespace
}  // namespace holdfast::clusterless_kde
