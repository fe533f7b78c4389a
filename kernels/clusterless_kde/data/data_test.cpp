// SPDX-License-Identifier: Apache-2.0
#include "clusterless_kde/data/data.hpp"

#include <gmock/gmock.h>

#include <algorithm>

#include "clusterless_kde/oracle/golden.hpp"
#include "clusterless_kde/oracle/oracle.hpp"
#include "clusterless_kde/problem/preparation.hpp"
#include "runtime/base/error.hpp"

namespace holdfast::clusterless_kde {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

std::vector<std::int64_t> first_four(const std::vector<std::int64_t>& counts) {
  return {counts.begin(), counts.begin() + 4};
}

TEST(Stream, UniformsAreSplitMix64s) {
  const Stream time(42, Stream::Kind::time, Stream::Phase::encode, 0);
  EXPECT_EQ(time.key, 0x28efe333b266f103u);
  EXPECT_EQ(time.uniform(0), 0.9867112511075029);
  EXPECT_EQ(time.uniform(1), 0.30866257268220887);
  EXPECT_EQ(time.uniform(2), 0.5067495250451747);
}

TEST(Stream, NormalsAreSumsOfTwelveUniforms) {
  const Stream feature(42, Stream::Kind::feature, Stream::Phase::encode, 0);
  EXPECT_DOUBLE_EQ(feature.normal(0), -0.5698321302992069);
  EXPECT_DOUBLE_EQ(feature.normal(1), -1.1338716479562505);
  EXPECT_DOUBLE_EQ(feature.normal(2), 0.7765747821853264);
}

struct Counts {
  Size size = Size::tiny;
  std::vector<std::int64_t> encoding = {}, decoding = {};  // of the first four electrodes
  std::int64_t encoding_total = 0, decoding_total = 0;
  int electrodes = 0;
  std::int64_t samples = 0, rows = 0, bins = 0;
};

class SizeTable : public ::testing::TestWithParam<Counts> {};

TEST_P(SizeTable, HasTheSpikesOfTheSeed) {
  const Counts& golden = GetParam();
  const Shape numbers = shape(make_input({.size = golden.size}));
  EXPECT_EQ(first_four(numbers.encoding), golden.encoding);
  EXPECT_EQ(first_four(numbers.decoding), golden.decoding);
  EXPECT_EQ(numbers.encoding_total(), golden.encoding_total);
  EXPECT_EQ(numbers.decoding_total(), golden.decoding_total);
}

TEST_P(SizeTable, HasTheShapeOfTheTable) {
  const Counts& golden = GetParam();
  const Shape numbers = shape(make_input({.size = golden.size}));
  EXPECT_EQ(numbers.electrodes, golden.electrodes);
  EXPECT_EQ(numbers.samples, golden.samples);
  EXPECT_EQ(numbers.rows, golden.rows);
  EXPECT_EQ(numbers.bins, golden.bins);
}

const Counts published_counts[] = {
    {Size::tiny, {16, 10, 21, 22}, {6, 9, 17, 9}, 69, 41, 4, 100, 50, 100},
    {Size::small, {44, 35, 51, 53}, {24, 29, 42, 28}, 373, 219, 8, 500, 100, 200},
    {Size::medium, {188, 170, 203, 206}, {89, 98, 121, 96}, 3219, 1591, 16, 2000, 500, 500},
    {Size::large, {481, 452, 505, 510}, {280, 297, 337, 294}, 15911, 9656, 32, 5000, 1000, 1000},
    {Size::realistic,
     {974, 932, 1007, 1014},
     {377, 396, 442, 393},
     64017,
     25760,
     64,
     10000,
     2000,
     2000},
};
INSTANTIATE_TEST_SUITE_P(Seed42, SizeTable, ::testing::ValuesIn(published_counts));

TEST(Data, MarksDoNotChangeTheCounts) {
  const Shape profile = shape(make_input({.size = Size::small}));
  const Shape cells = shape(make_input({.size = Size::small, .marks = Marks::cells}));
  EXPECT_EQ(profile.encoding, cells.encoding);
  EXPECT_EQ(profile.decoding, cells.decoding);
}

TEST(Data, AShapeIsKnownBeforeItsInputIsMade) {
  for (const Recipe& recipe :
       {Recipe{.size = Size::medium},
        Recipe{.size = Size::tet64, .marks = Marks::cells, .scale = 64},
        Recipe{.size = Size::hpc2d, .marks = Marks::cells, .scale = 64},
        Recipe{.size = Size::small, .features = 6, .bins = 333, .sparse = true},
        Recipe{.size = Size::medium, .encoding_spikes = 20, .decoding_spikes = 10}}) {
    EXPECT_TRUE(shape(recipe) == shape(make_input(recipe))) << static_cast<int>(recipe.size);
  }
}

TEST(Data, AnotherSeedIsAnotherShape) {
  const Shape one = shape(make_input({.size = Size::small, .seed = 42}));
  const Shape other = shape(make_input({.size = Size::small, .seed = 43}));
  EXPECT_NE(one.encoding, other.encoding);
}

TEST(Data, EverySizeAndKindOfMarksPassesTheCheck) {
  for (const Size size : {Size::tiny, Size::small, Size::medium, Size::large, Size::realistic})
    for (const Marks marks : {Marks::profile, Marks::cells, Marks::whiten})
      EXPECT_NO_THROW(check(make_input({.size = size, .marks = marks})));
  for (const Size size : {Size::tet64, Size::hpc1d, Size::hpc2d})
    for (const Marks marks : {Marks::profile, Marks::cells, Marks::whiten})
      EXPECT_NO_THROW(check(make_input({.size = size, .marks = marks, .scale = 64})));
}

TEST(Data, WhitenedFeaturesAreThoseOfCellsPerBandwidth) {
  const Input cells = make_input({.size = Size::tiny, .marks = Marks::cells, .features = 6});
  const Input whiten = make_input({.size = Size::tiny, .marks = Marks::whiten, .features = 6});
  EXPECT_EQ(whiten.decoding_spikes[1].times, cells.decoding_spikes[1].times);
  for (std::size_t k = 0; k < cells.decoding_spikes[1].features.size(); ++k)
    EXPECT_EQ(whiten.decoding_spikes[1].features[k], cells.decoding_spikes[1].features[k] / 24);
  EXPECT_EQ(whiten.feature_bandwidth, std::vector<double>(6, 1));
}

TEST(Data, ScaleDividesRatesSamplesAndRowsAlone) {
  const Shape numbers =
      shape(make_input({.size = Size::hpc2d, .marks = Marks::cells, .scale = 512}));
  EXPECT_EQ(numbers.rows, 1385);
  EXPECT_EQ(numbers.samples, 1385);
  EXPECT_EQ(numbers.encoding_total(), 840);
  EXPECT_EQ(numbers.decoding_total(), 860);
  EXPECT_EQ(numbers.electrodes, 22);
  EXPECT_EQ(numbers.bins, 719);
}

TEST(Data, ForcedCountsAreOfOneElectrode) {
  const Shape numbers = shape(make_input({.size = Size::medium,
                                          .marks = Marks::cells,
                                          .features = 2,
                                          .encoding_spikes = 200,
                                          .decoding_spikes = 100}));
  EXPECT_THAT(numbers.encoding, ElementsAre(200));
  EXPECT_THAT(numbers.decoding, ElementsAre(100));
  EXPECT_EQ(numbers.bins, 500);
  EXPECT_EQ(numbers.samples, 2000);
}

TEST(Data, BinsAskedForReplaceTheSizesOwn) {
  const Input input = make_input({.size = Size::medium, .bins = 250});
  ASSERT_EQ(input.bins(), 250);
  EXPECT_DOUBLE_EQ(input.places.front(), 0.2);
  EXPECT_DOUBLE_EQ(input.places.back(), 99.8);
}

TEST(Data, ElectrodesOfAThinRecordingHaveASpikeAtLeast) {
  const Shape numbers = shape({.size = Size::hpc1d, .marks = Marks::cells, .scale = 300000});
  for (const std::int64_t count : numbers.encoding) EXPECT_GE(count, 1);
  for (const std::int64_t count : numbers.decoding) EXPECT_GE(count, 1);
  EXPECT_LT(numbers.encoding_total(), 3 * numbers.electrodes);
}

TEST(Data, SparseElectrodesHaveNoneOrOneEncodingSpike) {
  const Input input = make_input({.size = Size::small, .sparse = true});
  std::vector<std::size_t> counts;
  for (const Spikes& spikes : input.encoding_spikes) counts.push_back(spikes.times.size());
  EXPECT_EQ(std::count(counts.begin(), counts.end(), 0u), 2);
  EXPECT_EQ(std::count(counts.begin(), counts.end(), 1u), 2);
  for (const Spikes& spikes : input.decoding_spikes) EXPECT_FALSE(spikes.times.empty());
}

TEST(Data, WhatCannotBeMadeIsRefused) {
  EXPECT_THAT([] { make_input({.scale = 0}); }, ThrowsMessage<Error>(HasSubstr("scale 0")));
  EXPECT_THAT([] { make_input({.size = Size::tiny, .scale = 26}); },
              ThrowsMessage<Error>(HasSubstr("fewer than 2 time edges; give at most 25")));
  EXPECT_THAT([] { make_input({.bins = -1}); }, ThrowsMessage<Error>(HasSubstr("no place bins")));
  EXPECT_THAT([] { make_input({.size = Size::hpc2d, .bins = 100}); },
              ThrowsMessage<Error>(HasSubstr("719 place bins")));
  EXPECT_THAT([] { make_input({.features = -2}); },
              ThrowsMessage<Error>(HasSubstr("feature count")));
  EXPECT_THAT([] { make_input({.encoding_spikes = -2}); },
              ThrowsMessage<Error>(HasSubstr("number of spikes")));
}

TEST(OneSpikePerRow, GivesEachSpikeItsOwnRow) {
  const Input input = one_spike_per_row(make_input({.size = Size::small}), 50);
  EXPECT_NO_THROW(check(input));
  ASSERT_EQ(input.rows(), 51);
  const Order spikes = order(input);
  ASSERT_EQ(spikes.spikes.size(), 50u);
  for (int row = 0; row < 50; ++row)
    EXPECT_EQ(spikes.row_begin[row + 1] - spikes.row_begin[row], 1);
}

TEST(OneSpikePerRow, TakesAllElectrodesInTurn) {
  const Input input = one_spike_per_row(golden::input(), 100);
  std::vector<int> electrodes;
  for (const auto& spike : order(input).spikes) electrodes.push_back(spike.electrode);
  EXPECT_THAT(electrodes, ElementsAre(0, 1, 0, 1, 0, 1, 0, 0, 0));
}

TEST(OneSpikePerRow, KeepsEachSpikesLikelihoods) {
  const Input together = golden::input();
  const Input apart = one_spike_per_row(together, 100);
  const std::vector<double> one = oracle_decoding(apart).likelihood;
  double sum = 0, expected = 0;
  for (std::size_t k = 0; k < one.size(); ++k) sum += one[k] + golden::ground[k % golden::bins];
  for (std::size_t k = 0; k < golden::likelihood.size(); ++k)
    expected += golden::likelihood[k] + golden::ground[k % golden::bins];
  EXPECT_NEAR(sum, expected, 1e-10);
}

TEST(OneSpikePerRow, KeepsWhereTheAnimalWas) {
  const Input together = golden::input();
  const Input apart = one_spike_per_row(together, 3);
  std::vector<double> at;
  for (const double t : {0.5, 1.5, 2.5}) {
    double x = 0;
    interpolate(apart.decoding, 1, t, {&x, 1});
    at.push_back(x);
  }
  EXPECT_THAT(at, ElementsAre(2, 3.5, 5));  // spikes at 0, 0.5 and 1 s; X = 2 + 3 t
}

TEST(OneSpikePerRow, OfNoSpikesIsOneEmptyRow) {
  const Input input = one_spike_per_row(golden::input(), 0);
  EXPECT_NO_THROW(check(input));
  EXPECT_TRUE(order(input).spikes.empty());
}

}  // namespace
}  // namespace holdfast::clusterless_kde
