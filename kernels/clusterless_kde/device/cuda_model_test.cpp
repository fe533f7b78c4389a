// SPDX-License-Identifier: Apache-2.0
// Encoding by the optimized variant on a device: what it computes, on the emulated one.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "clusterless_kde/data/data.hpp"
#include "clusterless_kde/oracle/golden.hpp"
#include "clusterless_kde/oracle/oracle.hpp"
#include "clusterless_kde/testing/support.hpp"

namespace holdfast::clusterless_kde {
namespace {

// Largest relative difference of o and of G from the oracle.
double worst_of_encoding(const Input& input, const Options& options, Emulation emulation = {}) {
  const auto computed = emulated_result(Unit::encode, input, options, emulation);
  const Encoding exact = oracle_encoding(input);
  std::vector<double> expected = exact.occupancy;
  expected.insert(expected.end(), exact.ground.begin(), exact.ground.end());
  if (computed.size() != expected.size()) return INFINITY;
  double worst = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double difference = std::abs(computed[i] - expected[i]);
    worst = std::max(worst, std::isnan(difference) ? INFINITY : difference / expected[i]);
  }
  return worst;
}

struct Precise {
  Arithmetic arithmetic = Arithmetic::f32;
  double relative = 0;
};
// Single: psi to 2 ulp, the nodes' spacing to 7e-8. Double: the nodes to 1e-10.
constexpr Precise arithmetics[] = {{Arithmetic::f32, 3e-6},
                                   {Arithmetic::ffma, 3e-6},
                                   {Arithmetic::tf32, 3e-6},
                                   {Arithmetic::f64, 2e-10}};

TEST(EmulatedEncoding, IsTheOraclesOnTheGoldenCase) {
  for (const auto& [arithmetic, relative] : arithmetics) {
    SCOPED_TRACE(static_cast<int>(arithmetic));
    EXPECT_LE(worst_of_encoding(golden::input(), {.arithmetic = arithmetic}), relative);
  }
}

TEST(EmulatedEncoding, IsTheOraclesOnTheDensePath) {
  const Input input = make_input({.size = Size::tiny, .marks = Marks::cells});
  for (const auto& [arithmetic, relative] : arithmetics) {
    SCOPED_TRACE(static_cast<int>(arithmetic));
    EXPECT_LE(worst_of_encoding(input, {.arithmetic = arithmetic}), relative);
  }
}

// The number of bins is not a multiple of a tile.
const Recipe two_hops = {.size = Size::medium, .bins = 301};

TEST(EmulatedEncoding, IsTheOraclesThroughNodes) {
  const Input input = make_input(two_hops);
  for (const Values values : {Values::stored, Values::recomputed})
    for (const auto& [arithmetic, relative] : arithmetics) {
      SCOPED_TRACE(testing::Message() << static_cast<int>(arithmetic) << static_cast<int>(values));
      const Options options = {.arithmetic = arithmetic, .values = values};
      const auto backend = emulated();
      ASSERT_EQ(plan(*backend, input, options).path, Path::two_hop);
      EXPECT_LE(worst_of_encoding(input, options), relative);
    }
}

// Coordinates in single precision, tens of bandwidths from the origin.
constexpr double plane_single = 1e-5;

TEST(EmulatedEncoding, IsTheOraclesInAPlane) {
  const Input input = make_input({.size = Size::hpc2d, .marks = Marks::cells, .scale = 4000});
  for (const auto& [arithmetic, relative] :
       {arithmetics[3], Precise{Arithmetic::f32, plane_single}}) {
    SCOPED_TRACE(static_cast<int>(arithmetic));
    EXPECT_LE(worst_of_encoding(input, {.arithmetic = arithmetic}), relative);
  }
}

TEST(EmulatedEncoding, SortsForACutWithoutChangingMoreThanRounding) {
  for (const Recipe& recipe : {Recipe{.size = Size::tiny},
                               Recipe{.size = Size::hpc2d, .marks = Marks::cells, .scale = 4000}})
    EXPECT_LE(worst_of_encoding(make_input(recipe), {.cut = true}), plane_single);
}

// The least rate is lost to rounding when added to any other.
TEST(EmulatedEncoding, GivesElectrodesWithoutSpikesTheLeastRate) {
  Input silent = golden::input();
  for (Spikes& spikes : silent.encoding_spikes) spikes = {};
  EXPECT_LE(worst_of_encoding(silent, {}), 1e-6);
  const Input input = make_input({.size = Size::small, .sparse = true});
  EXPECT_LE(worst_of_encoding(input, {.arithmetic = Arithmetic::f64}), 2e-10);
}

// Eight lanes of a place take four electrodes each at a time.
TEST(EmulatedEncoding, AddsUpMoreElectrodesThanThePlacesTakeAtATime) {
  Input many = golden::input();
  while (many.electrodes() < 37) {
    const auto like = static_cast<std::size_t>(many.electrodes() % 2);
    many.encoding_spikes.push_back(many.encoding_spikes[like]);
    many.decoding_spikes.push_back(many.decoding_spikes[like]);
  }
  EXPECT_LE(worst_of_encoding(many, {.arithmetic = Arithmetic::f64}), 2e-10);
}

TEST(EmulatedEncoding, RepeatsToTheLastBitInEitherOrderOfThreads) {
  for (const Recipe& recipe : {Recipe{.size = Size::tiny}, two_hops}) {
    const Input input = make_input(recipe);
    const auto once = emulated_result(Unit::encode, input);
    EXPECT_EQ(emulated_result(Unit::encode, input, {}, {.order = emulation::Order::backward}, 2),
              once);
  }
}

}  // namespace
}  // namespace holdfast::clusterless_kde
