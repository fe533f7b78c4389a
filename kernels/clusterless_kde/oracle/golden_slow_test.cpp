// SPDX-License-Identifier: Apache-2.0
// The largest sizes of a track of 100 cm: the oracle and every variant on the host against golden
// values from an independent prototype.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numeric>
#include <string>

#include "clusterless_kde/data/data.hpp"
#include "clusterless_kde/oracle/oracle.hpp"
#include "clusterless_kde/testing/support.hpp"

namespace holdfast::clusterless_kde {
namespace {

// Sums of hundreds of spikes in single precision have a relative error of 1e-6; the oracle is exact
// to all printed digits.
constexpr double of_single = 3e-6, of_double = 1e-10, of_oracle = 2e-11;

void expect_near(double value, double golden, double relative, const char* what) {
  EXPECT_NEAR(value, golden, relative * std::abs(golden)) << what;
}

struct Large {
  Marks marks = Marks::profile;
  double total = 0, third_middle = 0, half_quarter = 0, last_first = 0;
};
const Large large[] = {
    {Marks::profile, -104713628.037, -76.4328780523, -150.167371861, -3.24231595929},
    {Marks::cells, -270713338.938, -195.904422971, -231.881885739, -3.04076840124}};

void expect_large(const std::vector<double>& out, const Large& golden, double relative) {
  const std::int64_t rows = 1000, bins = 1000;
  ASSERT_EQ(static_cast<std::int64_t>(out.size()), rows * bins);
  expect_near(std::accumulate(out.begin(), out.end(), 0.), golden.total, relative, "sum");
  expect_near(out[3 * bins + bins / 2], golden.third_middle, relative, "out[3, P/2]");
  expect_near(out[rows / 2 * bins + bins / 4], golden.half_quarter, relative, "out[T/2, P/4]");
  expect_near(out[(rows - 1) * bins], golden.last_first, relative, "out[T-1, 0]");
}

struct Realistic {
  Marks marks = Marks::profile;
  double columns[4] = {};  // sums over all rows, of bins 0, 500, 1000 and 1999
  double row[4] = {};      // row 1000 of the same
};
constexpr std::int64_t bins_of_columns[4] = {0, 500, 1000, 1999};
const Realistic realistic[] = {{Marks::profile,
                                {-283095.880151, -283504.690451, -283220.088973, -283841.766966},
                                {-153.782970324, -153.563368502, -153.399753914, -154.34705003}},
                               {Marks::cells,
                                {-789625.772241, -701954.323394, -694616.289475, -783752.546009},
                                {-404.36171354, -343.537877122, -259.178166321, -379.918611241}}};

// `at` returns out[row, bin].
void expect_realistic(const std::function<double(std::int64_t row, int column)>& at,
                      const Realistic& golden, double relative) {
  for (int column = 0; column < 4; ++column) {
    double sum = 0;
    for (std::int64_t row = 0; row < 2000; ++row) sum += at(row, column);
    expect_near(sum, golden.columns[column], relative, "column");
    expect_near(at(1000, column), golden.row[column], relative, "row 1000");
  }
}

TEST(Oracle, HasThePrototypesLikelihoodsAtLarge) {
  for (const Large& golden : large) {
    const Decoding decoding =
        oracle_decoding(make_input({.size = Size::large, .marks = golden.marks}));
    expect_large(decoding.likelihood, golden, of_oracle);
    EXPECT_NEAR(decoding.floored_fraction, golden.marks == Marks::cells ? 0.286 : 0, 5e-4);
  }
}

TEST(Oracle, HasThePrototypesColumnsAtRealistic) {
  std::vector<Entry> entries;
  for (const std::int64_t bin : bins_of_columns)
    for (std::int64_t row = 0; row < 2000; ++row) entries.push_back({.row = row, .bin = bin});
  for (const Realistic& golden : realistic) {
    const std::vector<double> values =
        oracle_entries(make_input({.size = Size::realistic, .marks = golden.marks}), entries);
    expect_realistic([&](std::int64_t row, int column) { return values[column * 2000 + row]; },
                     golden, of_oracle);
  }
}

class HostVariant : public ::testing::TestWithParam<Way> {
 protected:
  const Way& way = GetParam();
  const double relative = way.arithmetic == Arithmetic::f32 ? of_single : of_double;
};
INSTANTIATE_TEST_SUITE_P(Ways, HostVariant, ::testing::ValuesIn(ways),
                         [](const auto& each) { return std::string(each.param.name); });

TEST_P(HostVariant, HasThePrototypesLikelihoodsAtLarge) {
  for (const Large& golden : large)
    expect_large(decode(way, make_input({.size = Size::large, .marks = golden.marks})), golden,
                 relative);
}

// The reference in only one precision: its 26000 passes over memory take seconds.
class HostVariantAtRealistic : public HostVariant {};
INSTANTIATE_TEST_SUITE_P(Ways, HostVariantAtRealistic, ::testing::Values(ways[0], ways[2], ways[3]),
                         [](const auto& each) { return std::string(each.param.name); });

TEST_P(HostVariantAtRealistic, HasThePrototypesColumns) {
  for (const Realistic& golden : realistic) {
    const std::vector<double> out =
        decode(way, make_input({.size = Size::realistic, .marks = golden.marks}));
    expect_realistic(
        [&](std::int64_t row, int column) { return out[row * 2000 + bins_of_columns[column]]; },
        golden, relative);
  }
}

}  // namespace
}  // namespace holdfast::clusterless_kde
