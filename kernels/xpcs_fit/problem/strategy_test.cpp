// SPDX-License-Identifier: Apache-2.0
// The published table of sizes, strategies and memory.
#include "xpcs_fit/problem/strategy.hpp"

#include <gtest/gtest.h>

namespace holdfast::xpcs_fit {
namespace {

TEST(XpcsStrategy, EstimatesMemoryAsPublished) {
  EXPECT_DOUBLE_EQ(published_gib(1'000'000, 5), 0.08940696716308594);
  EXPECT_DOUBLE_EQ(published_gib(10'000'000, 9), 1.4901161193847656);
  EXPECT_DOUBLE_EQ(published_gib(100'000'000, 9), 14.901161193847656);
  EXPECT_DOUBLE_EQ(selector_gib(1'000'000, 5), 0.08940733969211578);
}

TEST(XpcsStrategy, IsChosenBySizeAndGoesOneStepFurtherWhereMemoryIsShort) {
  struct {
    std::int64_t points;
    double available;
    Strategy expected;
  } const table[] = {{999'999, 64, Strategy::standard},      {1'000'000, 64, Strategy::large},
                     {9'999'999, 64, Strategy::large},       {10'000'000, 64, Strategy::chunked},
                     {99'999'999, 64, Strategy::chunked},    {100'000'000, 64, Strategy::streaming},
                     {500'000, 0.1, Strategy::large},        {5'000'000, 1, Strategy::chunked},
                     {50'000'000, 10, Strategy::streaming},  {50'000'000, 25.6, Strategy::chunked},
                     {1'000'000'000, 1, Strategy::streaming}};
  for (const auto& row : table)
    EXPECT_EQ(choose_strategy(row.points, 9, row.available), row.expected)
        << row.points << " points, " << row.available << " GiB";
}

TEST(XpcsStrategy, IsTheOneThatWasAskedForAndNoOther) {
  EXPECT_EQ(choose_strategy(1000, 9, 64, "streaming"), Strategy::streaming);
  EXPECT_EQ(choose_strategy(200'000'000, 9, 64, "standard"), Strategy::standard);
  EXPECT_EQ(choose_strategy(1000, 9, 64, "fastest"), Strategy::standard);
  EXPECT_EQ(choose_strategy(1000, 9, 64, ""), Strategy::standard);
}

TEST(XpcsStrategy, SizesPlainChunksAsPublished) {
  const std::int64_t c = 23'046'023;
  const std::int64_t chunk = plain_chunk(c, 9, 8, 64);
  EXPECT_EQ(chunk, 1'000'000);
  EXPECT_EQ((c + chunk - 1) / chunk, 24);
  EXPECT_EQ(plain_chunk(1'000'000, 9, 0.1, 64), 296'204);
  EXPECT_EQ(plain_chunk(500, 9, 8, 64), 500);
}

TEST(XpcsStrategy, SizesPlainBatchesAsPublished) {
  EXPECT_EQ(plain_batch(5, 0.0005), 1000);
  EXPECT_EQ(plain_batch(5, 0.001), 2000);
  EXPECT_EQ(plain_batch(9, 0.01), 13000);
  EXPECT_EQ(plain_batch(9, 0.05), 67000);
  EXPECT_EQ(plain_batch(9, 0.0745), 100000);
  EXPECT_EQ(plain_batch(9, 64), 100000);
}

TEST(XpcsStrategy, BatchesOfRowsHaveOneAtLeastAndAllAtMost) {
  EXPECT_EQ(rows_of_batch({23, 1001}, 4194304), 182);
  EXPECT_EQ(rows_of_batch({4, 48}, 4194304), 48);
  EXPECT_EQ(rows_of_batch({4, 48}, 100), 1);
  EXPECT_EQ(rows_of_batch({4, 48}, 1000), 5);
}

}  // namespace
}  // namespace holdfast::xpcs_fit
