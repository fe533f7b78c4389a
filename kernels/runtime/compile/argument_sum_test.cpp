// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/argument_sum.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace holdfast {
namespace {

enum class Mode { once, twice };

struct Range {
  int first = 0, end = 0;
};

template <class T>
struct Stage {
  const T* z = nullptr;
  T* out = nullptr;
  Range rows = {};
  T share = 0;
};

// As kernels take them: arrays of aggregates, gaps between members, integers of each width.
template <class T>
struct Plan {
  bool is_last = true;
  long long total = 0;
  Stage<T> stages[2][2] = {};
  signed char offset = 0;
  Mode mode = Mode::twice;
  unsigned short width = 0;
  double scale = 1;
  int latent[3] = {};
};

TEST(ArgumentSum, IsOfIntegersAlone) {
  EXPECT_EQ(integers_in(3), 3);
  EXPECT_EQ(integers_in(-3L), -3);
  EXPECT_EQ(integers_in(std::numeric_limits<std::uint32_t>::max()), 4294967295);
  const int behind = 7;
  EXPECT_EQ(integers_in(&behind), 0);
  EXPECT_EQ(integers_in(2.5), 0);
  EXPECT_EQ(integers_in(true), 0);
  EXPECT_EQ(integers_in(Mode::twice), 0);
}

TEST(ArgumentSum, ReachesEachMemberOfAnAggregate) {
  const double number = 1e300;
  const Plan<double> nothing = {.stages = {{{.z = &number, .share = 0.1}}}, .scale = number};
  EXPECT_EQ(integers_in(nothing), 0);
  std::int64_t expected = 0;
  int next = 1;
  Plan<double> plan = nothing;
  const auto set = [&](auto& member, int factor = 1) {
    const int value = factor * next;
    member = static_cast<std::remove_reference_t<decltype(member)>>(value);
    expected += value;
    next *= 2;
    EXPECT_EQ(integers_in(plan), expected);
  };
  set(plan.total);
  for (auto& row : plan.stages)
    for (Stage<double>& stage : row) {
      set(stage.rows.first);
      set(stage.rows.end, -1);
    }
  for (int& latent : plan.latent) set(latent);
  set(plan.width);
  plan.offset = -5;
  EXPECT_EQ(integers_in(plan), expected - 5);
}

TEST(ArgumentSum, OfWideNumbersLosesNoDigit) {
  const Plan<float> plan = {.total = (1LL << 52) + 1};
  EXPECT_EQ(integers_in(plan), 4503599627370497);
}

}  // namespace
}  // namespace holdfast
