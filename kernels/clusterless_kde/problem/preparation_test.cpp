// SPDX-License-Identifier: Apache-2.0
#include "clusterless_kde/problem/preparation.hpp"

#include <gmock/gmock.h>

#include <algorithm>

#include "clusterless_kde/data/data.hpp"
#include "clusterless_kde/oracle/golden.hpp"

namespace holdfast::clusterless_kde {
namespace {

using ::testing::ElementsAre;

TEST(Kept, BothOuterBoundsBelong) {
  EXPECT_THAT(kept({0.5, 1, 2, 3, 3.5}, 1, 3), ElementsAre(1, 2, 3));
}

TEST(Kept, UnsortedTimesKeepTheirIndices) {
  EXPECT_THAT(kept({2, 9, 1, -1, 3}, 1, 3), ElementsAre(0, 2, 4));
}

TEST(RowOf, ASpikeOnAnInteriorEdgeBelongsToTheLaterRow) {
  const std::vector<double> edges = {0, 1, 2, 3};
  EXPECT_EQ(row_of(edges, 0), 0);
  EXPECT_EQ(row_of(edges, 0.999), 0);
  EXPECT_EQ(row_of(edges, 1), 1);
  EXPECT_EQ(row_of(edges, 2), 2);
}

TEST(RowOf, TheLastRowNeverGetsASpike) {
  EXPECT_EQ(row_of({0, 1, 2, 3}, 3), 2);
  EXPECT_EQ(row_of({0, 1}, 1), 0);
}

TEST(Order, IsThatOfTheGoldenCase) {
  const Order result = order(golden::input());
  std::vector<std::pair<int, std::int64_t>> spikes;
  for (const auto& [electrode, index] : result.spikes) spikes.emplace_back(electrode, index);
  EXPECT_THAT(spikes, ElementsAre(std::pair(0, 0), std::pair(1, 0), std::pair(0, 1),
                                  std::pair(0, 2), std::pair(1, 1), std::pair(1, 2),
                                  std::pair(0, 3), std::pair(0, 4), std::pair(0, 5)));
  EXPECT_THAT(result.row_begin, ElementsAre(0, 2, 4, 6, 7, 9, 9));
  EXPECT_THAT(result.rows, ElementsAre(0, 1, 1, 3, 4, 4, 0, 2, 2));
}

TEST(Order, IsByRowThenElectrodeThenIndexAndComplete) {
  const Input input = make_input({.size = Size::medium, .marks = Marks::cells});
  const Order result = order(input);
  ASSERT_EQ(result.row_begin.size(), static_cast<std::size_t>(input.rows() + 1));
  EXPECT_EQ(static_cast<std::int64_t>(result.spikes.size()), shape(input).decoding_total());
  for (std::int64_t row = 0; row < input.rows(); ++row)
    for (std::int64_t j = result.row_begin[row]; j < result.row_begin[row + 1]; ++j) {
      const auto [e, i] = result.spikes[j];
      EXPECT_EQ(row_of(input.edges, input.decoding_spikes[e].times[i]), row);
      if (j == result.row_begin[row]) continue;
      const auto [before, index] = result.spikes[j - 1];
      EXPECT_TRUE(before < e || (before == e && index < i)) << j;
    }
}

TEST(Order, FindsTheRowsOfUnequalEdges) {
  Input input = make_input({.size = Size::small, .marks = Marks::cells});
  const double last = input.edges.back();
  const auto expect_rows = [&] {
    input.decoding_spikes[0].times = input.edges;  // spikes on edges
    const Order result = order(input);
    std::size_t j = 0;
    for (const Spikes& spikes : input.decoding_spikes)
      for (const double t : spikes.times) EXPECT_EQ(result.rows[j++], row_of(input.edges, t)) << t;
  };
  for (double& edge : input.edges) edge *= edge * edge / (last * last);  // dense at the start
  expect_rows();
  std::reverse(input.edges.begin(), input.edges.end());
  for (double& edge : input.edges) edge = last - edge;  // dense at the end
  expect_rows();
}

TEST(Order, ReusedMemoryGivesTheSameOrder) {
  Order reused = order(make_input({.size = Size::small}));
  order(golden::input(), reused);
  const Order fresh = order(golden::input());
  EXPECT_EQ(reused.row_begin, fresh.row_begin);
  EXPECT_EQ(reused.rows, fresh.rows);
  ASSERT_EQ(reused.spikes.size(), fresh.spikes.size());
  for (std::size_t j = 0; j < fresh.spikes.size(); ++j) {
    EXPECT_EQ(reused.spikes[j].electrode, fresh.spikes[j].electrode);
    EXPECT_EQ(reused.spikes[j].index, fresh.spikes[j].index);
  }
}

TEST(Order, SkipsSpikesBeforeTheFirstEdge) {
  Input input = golden::input();
  input.edges = {1.1, 2.5, 4.5};
  const Order result = order(input);
  EXPECT_THAT(result.row_begin, ElementsAre(0, 2, 5, 5));
  EXPECT_EQ(result.spikes[0].index, 2);  // of electrode 0, at 1.25 s
}

TEST(Shape, CountsKeptSpikesAlone) {
  const Shape numbers = shape(golden::input());
  EXPECT_THAT(numbers.encoding, ElementsAre(6, 4));
  EXPECT_THAT(numbers.decoding, ElementsAre(6, 3));
  EXPECT_EQ(numbers.encoding_total(), 10);
  EXPECT_EQ(numbers.decoding_total(), 9);
  EXPECT_EQ(numbers.pairs(), 48);
  EXPECT_EQ(numbers.samples, 21);
  EXPECT_EQ(numbers.rows, 6);
  EXPECT_EQ(numbers.bins, 7);
}

TEST(Shape, ExtentHoldsPlacesAndPositions) {
  Input input = golden::input();
  EXPECT_EQ(shape(input).extent[0], 0);   // the trajectory turns round there
  EXPECT_EQ(shape(input).extent[1], 20);  // and starts here
  input.places.back() = 21;
  EXPECT_EQ(shape(input).extent[1], 21);
  input.edges.back() = 9;  // the position at that time: 2 + 3 * 9
  EXPECT_EQ(shape(input).extent[1], 29);
}

TEST(Shape, DroppedSpikesAreThoseOfBothPhases) {
  EXPECT_EQ(dropped_spikes(golden::input()), 2);
  EXPECT_EQ(dropped_spikes(make_input({.size = Size::small})), 0);
}

}  // namespace
}  // namespace holdfast::clusterless_kde
