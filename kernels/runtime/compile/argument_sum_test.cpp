// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/argument_sum.hpp"

#include <gtest/gtest.h>

#include <complex>
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

TEST(ArgumentSum, OfSizesLosesNoDigit) {
  const Plan<float> plan = {.total = (1LL << 40) - 1};
  EXPECT_EQ(integers_in(plan), 1099511627775);
}

struct Keys {
  long long first = std::numeric_limits<long long>::max(), second = first;
  std::uint64_t third = std::numeric_limits<std::uint64_t>::max();
};

// A step of 4096 launches adds up to what a result's number holds.
TEST(ArgumentSum, OfWholeWordsKeepsRoomForThoseOfOtherLaunches) {
  EXPECT_EQ(integers_in(Keys()), 3 * ((1LL << 40) - 1));
  EXPECT_EQ(integers_in(Keys().third), (1LL << 40) - 1);
}

struct Unsigned {
  unsigned char byte = 200;
  std::uint16_t half = 65000;
  std::uint32_t word = 4000000000;
};

TEST(ArgumentSum, TakesIntegersWithoutASignAsTheyAre) {
  EXPECT_EQ(integers_in(Unsigned()), 200 + 65000 + 4000000000);
}

struct Packed {
  int tile : 4, pitch : 12;
  unsigned rows : 16;
  int count;
};

TEST(ArgumentSum, OfAnAggregateWithBitFieldsStaysWithinIt) {
  EXPECT_NE(integers_in(Packed{1, 2, 3, 100}), integers_in(Packed{1, 2, 3, 200}));
  for (const IntegerPlace& place : integer_places<Packed>())
    EXPECT_LE(place.offset + static_cast<std::size_t>(place.width), sizeof(Packed));
}

class Half {
 public:
  Half() = default;
  explicit Half(float) {}

 private:
  unsigned short bits_ = 7;
};
struct Scaled {
  Half scale = {};
  std::complex<float> phase = {};
  union {
    float of_float;
    int of_int;
  } either = {1.5f};
  int count = 5;
};

TEST(ArgumentSum, SkipsClassesThatHideTheirMembersAndUnions) {
  EXPECT_EQ(integers_in(Half(2)), 0);
  EXPECT_EQ(integers_in(std::complex<double>(1, 2)), 0);
  EXPECT_EQ(integers_in(Scaled()), 5);
}

struct Table {
  short rows[1500];
  int count;
};

TEST(ArgumentSum, TakesATableAsLargeAsKernelsTakeOne) {
  Table table = {.rows = {}, .count = 5};
  table.rows[1499] = 7;
  EXPECT_EQ(integers_in(table), 12);
}

}  // namespace
}  // namespace holdfast
