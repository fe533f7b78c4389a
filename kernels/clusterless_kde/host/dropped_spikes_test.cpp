// SPDX-License-Identifier: Apache-2.0
// Spikes before the first edge of a decode are dropped, and the others keep their own marks.
#include <gtest/gtest.h>

#include "clusterless_kde/testing/support.hpp"

namespace holdfast::clusterless_kde {
namespace {

// The rows from a third to two thirds of a recording: spikes lie before and after them.
Input middle_of(Input input) {
  const auto third = static_cast<std::ptrdiff_t>(input.edges.size() / 3);
  input.edges = {input.edges.begin() + third, input.edges.begin() + 2 * third};
  return input;
}

struct DroppedSpikes : testing::TestWithParam<Way> {};

TEST_P(DroppedSpikes, ShiftNoMarksOfThoseThatAreDecoded) {
  constexpr double spikes = 100;  // per row, at most
  for (const Marks marks : {Marks::profile, Marks::cells}) {
    const Input input = middle_of(make_input({.size = Size::small, .marks = marks}));
    ASSERT_GT(dropped_spikes(input), 0);
    EXPECT_LT(largest_difference(decode(GetParam(), input), oracle_decoding(input).likelihood),
              spikes * GetParam().per_spike);
  }
}

INSTANTIATE_TEST_SUITE_P(Host, DroppedSpikes, testing::ValuesIn(ways),
                         [](const auto& way) { return std::string(way.param.name); });

}  // namespace
}  // namespace holdfast::clusterless_kde
