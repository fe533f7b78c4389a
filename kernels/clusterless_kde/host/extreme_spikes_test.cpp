// SPDX-License-Identifier: Apache-2.0
// Spikes unlike those of generated inputs: each alone on its electrode, and marks far from the
// origin.
#include <gtest/gtest.h>

#include "clusterless_kde/testing/support.hpp"

namespace holdfast::clusterless_kde {
namespace {

constexpr Way in_f32 = ways[2], in_f64 = ways[3];

double decoding_error(const Way& way, const Input& input) {
  return largest_difference(decode(way, input), oracle_decoding(input).likelihood);
}

// An electrode whose many spikes make nodes cheaper than places, and others with one encoding spike
// each, every 2 cm, that decode the same mark. The mark bandwidth is so narrow that likelihoods are
// still above the floor eleven position bandwidths away.
Input alone_along_the_track() {
  Input input = make_input({.marks = Marks::cells, .encoding_spikes = 800, .decoding_spikes = 20});
  input.feature_bandwidth.assign(4, 2e-4);
  const std::vector<double> mark = {100, 120, 140, 160};
  for (int k = 0; k < 50; ++k) {
    const double at = 1 + 2 * k;
    input.encoding_spikes.push_back({.times = {at}, .features = mark});
    input.decoding_spikes.push_back({.times = {at / 5}, .features = mark});
  }
  return one_spike_per_row(input, 100);
}

// Sums at nodes and sums over nodes skip what is too far away: less than rounding does.
TEST(ExtremeSpikes, AloneOnTheirElectrodesAreFeltAsFarAsTheFloorReaches) {
  const Input input = alone_along_the_track();
  for (const Way& way : {in_f32, in_f64}) {
    ASSERT_EQ(path(shape(input), precision_of(way.arithmetic)), Path::two_hop);
    EXPECT_LT(decoding_error(way, input), way.per_spike) << way;
  }
}

// The spikes of a tile are at the animal's positions, not between the first of them and the last.
TEST(ExtremeSpikes, OfAnAnimalThatTurnsRoundAreAllCounted) {
  Input input = make_input({.marks = Marks::cells});
  for (std::size_t k = 0; k < input.encoding.times.size(); ++k) {
    const double laps = input.encoding.times[k] / 9;  // on a track of 100 cm
    input.encoding.positions[k] = 100 * std::abs(2 * (laps - std::floor(laps)) - 1);
  }
  input = one_spike_per_row(input, 100);
  ASSERT_EQ(path(shape(input), Precision::f32), Path::two_hop);
  EXPECT_LT(decoding_error(in_f32, input), in_f32.per_spike);
}

TEST(ExtremeSpikes, HeardFarFromTheirMarksCountUntilTheyReachTheFloor) {
  const Input input = heard_farther_and_farther();
  const std::vector<double> expected = oracle_decoding(input).likelihood;
  const double ground = expected.back();
  EXPECT_GT(expected[4 * 100 + 50] + ground, log_rate_floor + 1);
  for (const Way& way : {ways[0], in_f32, in_f64})
    EXPECT_LT(decoding_error(way, input), way.per_spike) << way;
}

// A cut's radius grows with the number of spikes: left out, these would be 2e-4 of the sum.
TEST(ExtremeSpikes, FarAndManyAreNotCutOff) {
  const Input input = known_near_and_beyond(where_all_matter(known_near_and_beyond(8)));
  EXPECT_LT(largest_difference(decode(in_f32, input, {.cut = true}), decode(in_f32, input)), 2e-5);
}

// The distances of marks are the same as before; single precision holds them exactly.
TEST(ExtremeSpikes, WithMarksFarFromTheOriginKeepTheirDifferences) {
  constexpr double offset = 1 << 20, eighth = 0.125;
  for (const Size size : {Size::small, Size::medium}) {
    Input input = make_input({.size = size, .marks = Marks::cells});
    for (auto* phase : {&input.encoding_spikes, &input.decoding_spikes})
      for (Spikes& spikes : *phase)
        for (double& mark : spikes.features) mark = offset + eighth * std::round(mark / eighth);
    input = one_spike_per_row(input, 100);
    for (const Way& way : {in_f32, in_f64})
      EXPECT_LT(decoding_error(way, input), way.per_spike) << way;
    const std::vector<double> local = oracle_local(input);
    EXPECT_LT(largest_difference(compute(make_local, in_f32, input), local), in_f32.per_spike);
  }
}

}  // namespace
}  // namespace holdfast::clusterless_kde
