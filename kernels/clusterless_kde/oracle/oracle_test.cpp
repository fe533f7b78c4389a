// SPDX-License-Identifier: Apache-2.0
#include "clusterless_kde/oracle/oracle.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "clusterless_kde/data/data.hpp"
#include "clusterless_kde/oracle/golden.hpp"

namespace holdfast::clusterless_kde {
namespace {

double sum(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.);
}

// Golden values are printed with 12 digits or more.
void expect_near(double value, double golden, const char* what) {
  EXPECT_NEAR(value, golden, 2e-11 * std::abs(golden)) << what;
}

TEST(GoldenCase, EncodingIsThePrototypes) {
  const Encoding encoding = oracle_encoding(golden::input());
  for (int p = 0; p < golden::bins; ++p) {
    EXPECT_NEAR(encoding.occupancy[p], golden::occupancy[p], 1e-15) << p;
    EXPECT_NEAR(encoding.ground[p], golden::ground[p], 1e-14) << p;
  }
}

TEST(GoldenCase, DecodingIsThePrototypes) {
  const Decoding decoding = oracle_decoding(golden::input());
  ASSERT_EQ(decoding.likelihood.size(), golden::likelihood.size());
  for (std::size_t k = 0; k < golden::likelihood.size(); ++k)
    EXPECT_NEAR(decoding.likelihood[k], golden::likelihood[k], 1e-12) << k;
}

TEST(GoldenCase, OneOfItsNineSpikesIsFloored) {
  EXPECT_DOUBLE_EQ(oracle_decoding(golden::input()).floored_fraction, 1. / 9);
}

TEST(GoldenCase, LocalLikelihoodIsThePrototypes) {
  const std::vector<double> local = oracle_local(golden::input());
  ASSERT_EQ(local.size(), golden::local.size());
  for (int t = 0; t < golden::rows; ++t) EXPECT_NEAR(local[t], golden::local[t], 1e-12) << t;
}

TEST(Oracle, OmittedFloorLowersTheFlooredRowAlone) {
  const std::vector<double> local = oracle_local(golden::input(), LocalFloor::omitted);
  for (int t = 0; t < golden::rows; ++t)
    if (t == golden::floored_row)
      EXPECT_LT(local[t], golden::local[t] - 100);
    else
      EXPECT_NEAR(local[t], golden::local[t], 1e-12) << t;
}

TEST(Oracle, EntriesFormedAloneEqualThoseOfTheWhole) {
  const Input input = make_input({.size = Size::small, .marks = Marks::cells});
  const std::vector<double> whole = oracle_decoding(input).likelihood;
  const std::vector<Entry> entries = sampled_entries(input, 42, 300);
  const std::vector<double> alone = oracle_entries(input, entries);
  for (std::size_t k = 0; k < entries.size(); ++k)
    EXPECT_NEAR(alone[k], whole[entries[k].row * input.bins() + entries[k].bin], 1e-10) << k;
}

TEST(Oracle, SampledEntriesAreTheSeeds) {
  const Input input = make_input({.size = Size::tiny});
  const std::vector<Entry> entries = sampled_entries(input, 42, 4096);
  ASSERT_EQ(entries.size(), 4096u);
  const std::vector<Entry> again = sampled_entries(input, 42, 10);
  for (std::size_t k = 0; k < again.size(); ++k) {
    EXPECT_EQ(again[k].row, entries[k].row);
    EXPECT_EQ(again[k].bin, entries[k].bin);
  }
  int same = 0;
  const std::vector<Entry> others = sampled_entries(input, 43, 4096);
  for (std::size_t k = 0; k < others.size(); ++k)
    same += others[k].row == entries[k].row && others[k].bin == entries[k].bin;
  EXPECT_LT(same, 10);
  std::vector<int> of_rows(input.rows()), of_bins(input.bins());
  for (const Entry& entry : entries) {
    ++of_rows.at(entry.row);
    ++of_bins.at(entry.bin);
  }
  for (const int times : of_rows) EXPECT_GT(times, 0);
  for (const int times : of_bins) EXPECT_GT(times, 0);
}

TEST(Oracle, ElectrodesWithoutEncodingSpikesAddTheFloorAndNoGround) {
  Input input = golden::input();
  const Decoding before = oracle_decoding(input);
  const double ground = oracle_encoding(input).ground[0];
  input.encoding_spikes.push_back({});
  input.decoding_spikes.push_back({.times = {3.5}, .features = {1, 1, 1}});
  const Decoding after = oracle_decoding(input);
  EXPECT_DOUBLE_EQ(oracle_encoding(input).ground[0], ground + 1e-15);
  for (int p = 0; p < golden::bins; ++p) {
    const std::size_t k = 3 * golden::bins + p;
    EXPECT_NEAR(after.likelihood[k] - before.likelihood[k], -34.538776394910684, 1e-12);
    EXPECT_NEAR(after.likelihood[p], before.likelihood[p], 2e-14) << p;
  }
  EXPECT_TRUE(std::isfinite(oracle_local(input, LocalFloor::omitted)[3]));
}

struct GoldenRow {
  Size size = Size::tiny;
  Marks marks = Marks::profile;
  double total = 0, third_middle = 0, half_quarter = 0, last_first = 0;
  double ground = 0, local = 0, floored = 0, occupancy = 0;
  Recipe recipe() const { return {.size = size, .marks = marks}; }
};

class GeneratedData : public ::testing::TestWithParam<GoldenRow> {};

TEST_P(GeneratedData, HasThePrototypesLikelihoods) {
  const GoldenRow& golden = GetParam();
  const Input input = make_input(golden.recipe());
  const Decoding decoding = oracle_decoding(input);
  const std::vector<double>& out = decoding.likelihood;
  const std::int64_t bins = input.bins(), rows = input.rows();
  expect_near(sum(out), golden.total, "sum of out");
  expect_near(out[3 * bins + bins / 2], golden.third_middle, "out[3, P/2]");
  expect_near(out[rows / 2 * bins + bins / 4], golden.half_quarter, "out[T/2, P/4]");
  expect_near(out[(rows - 1) * bins], golden.last_first, "out[T-1, 0]");
  EXPECT_NEAR(decoding.floored_fraction, golden.floored, 5e-4);
}

TEST_P(GeneratedData, HasThePrototypesEncoding) {
  const GoldenRow& golden = GetParam();
  const Encoding encoding = oracle_encoding(make_input(golden.recipe()));
  expect_near(sum(encoding.ground), golden.ground, "sum of G");
  expect_near(sum(encoding.occupancy), golden.occupancy, "sum of o");
}

TEST_P(GeneratedData, HasThePrototypesLocalLikelihood) {
  expect_near(sum(oracle_local(make_input(GetParam().recipe()))), GetParam().local, "local sum");
}

const GoldenRow golden_rows[] = {
    {Size::tiny, Marks::profile, -45032.5513403, -21.3381366104, -0.527631026706, -0.951096016816,
     68.8920868774, -451.797903853, 0, 0.966975062396},
    {Size::small, Marks::profile, -490868.220555, -33.9327769789, -21.9546434569, -1.02453217703,
     148.287296276, -2442.60338338, 0, 1.94172574014},
    {Size::medium, Marks::profile, -8764391.13003, -23.0016758976, -84.9906074933, -1.76407909401,
     804.110613112, -17517.3394736, 0, 4.85778957419},
    {Size::tiny, Marks::cells, -125918.882403, -0.237427527164, -1.28877909784, -2.36756402705,
     67.2502063677, -926.115696835, 0.497, 0.966975062396},
    {Size::small, Marks::cells, -1268761.62664, -35.3163751592, -132.178124218, -1.43073049267,
     146.471011392, -4708.9075322, 0.360, 1.94172574014},
    {Size::medium, Marks::cells, -22583216.9858, -36.0902609691, -180.257646343, -2.04855435456,
     796.490264648, -33716.5760746, 0.308, 4.85778957419},
};
INSTANTIATE_TEST_SUITE_P(Sizes, GeneratedData, ::testing::ValuesIn(golden_rows));

TEST(Maze, HasThePrototypesLikelihoods) {
  const Input input = make_input({.size = Size::hpc2d, .marks = Marks::cells, .scale = 512});
  ASSERT_EQ(input.rows(), 1385);
  ASSERT_EQ(input.bins(), 719);
  const Encoding encoding = oracle_encoding(input);
  expect_near(sum(encoding.ground), 462.229501981, "sum of G");
  expect_near(sum(encoding.occupancy), 0.154800879113, "sum of o");
  const auto [least, most] = std::ranges::minmax(encoding.occupancy);
  const double unnormalised = 1385 * 12.5 * 2 * std::numbers::pi;  // O over o
  EXPECT_NEAR(unnormalised * least, 5.41194, 5e-6);
  EXPECT_NEAR(unnormalised * most, 49.5414, 5e-6);
  const Decoding decoding = oracle_decoding(input);
  const auto out = [&](int t, int p) { return decoding.likelihood[t * 719 + p]; };
  expect_near(sum(decoding.likelihood), -20666988.7175, "sum of out");
  expect_near(out(100, 0), -0.230337158163, "out[100, 0]");
  expect_near(out(700, 359), -0.494735029295, "out[700, 359]");
  expect_near(out(1384, 718), -0.05002715556, "out[1384, 718]");
  EXPECT_NEAR(decoding.floored_fraction, 0.7499, 5e-5);
}

}  // namespace
}  // namespace holdfast::clusterless_kde
