// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/argument_sum.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace holdfast {
namespace {

std::int64_t argument_sum(const auto& argument) {
  return argument_sums(argument).words;
}

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

TEST(ArgumentSum, HasIntegersAndFlagsAsTheyAre) {
  EXPECT_EQ(argument_sum(3), 3);
  EXPECT_EQ(argument_sum(-3L), -3);
  EXPECT_EQ(argument_sum(std::numeric_limits<std::uint32_t>::max()), 4294967295);
  EXPECT_EQ(argument_sum(true), 1);
  EXPECT_EQ(argument_sum(Mode::twice), 1);
}

TEST(ArgumentSum, TellsAnArrayFromNone) {
  const int behind = 7;
  EXPECT_EQ(argument_sum(&behind), 1);
  EXPECT_EQ(argument_sum(static_cast<const int*>(nullptr)), 0);
}

std::int64_t magnitudes(const auto& argument) {
  return argument_sums(argument).magnitudes;
}

TEST(ArgumentMagnitudes, ArePowersOfTwo) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (const double x : {1.0, 1e-300, 3e-39, 0.3, 12.0, -5.0})
    EXPECT_EQ(magnitudes(2 * x), magnitudes(x) + 1) << x;
  EXPECT_EQ(magnitudes(0.0), 0);
  EXPECT_EQ(magnitudes(-2.5), magnitudes(2.5f));
  EXPECT_GT(magnitudes(infinity), magnitudes(std::numeric_limits<double>::max()));
  EXPECT_EQ(magnitudes(std::nan("")), magnitudes(infinity));
  EXPECT_EQ(magnitudes(3), 0);
}

// Else a mathematical library that rounds the other way would be another count.
TEST(ArgumentMagnitudes, OfNumbersInUseAreTheSameALastPlaceAside) {
  for (const double x : {1.0, 0.5, 0.1, 10.0, 1e-8, 0.9, 0.999, 3.0, 7.0, 1.5, 0.75, 1.0 / 3})
    for (const double other : {0.0, 1e3})
      EXPECT_EQ(magnitudes(x), magnitudes(std::nextafter(x, other))) << x;
}

TEST(ArgumentSum, ReachesEachMemberOfAnAggregate) {
  const double number = 1e300;
  Plan<double> plan = {.is_last = false, .mode = Mode::once, .scale = 0};
  std::int64_t expected = 0;
  int next = 1;
  const auto set = [&](auto& member, int factor = 1) {
    const int value = factor * next;
    member = static_cast<std::remove_reference_t<decltype(member)>>(value);
    expected += value;
    next *= 2;
    EXPECT_EQ(argument_sum(plan), expected);
  };
  EXPECT_EQ(argument_sum(plan), 0);
  set(plan.is_last);
  set(plan.total);
  for (auto& row : plan.stages)
    for (Stage<double>& stage : row) {
      set(stage.rows.first);
      set(stage.rows.end, -1);
    }
  for (int& latent : plan.latent) set(latent);
  set(plan.width);
  plan.offset = -5;
  plan.mode = Mode::twice;
  plan.stages[1][0].z = &number;
  EXPECT_EQ(argument_sum(plan), expected - 5 + 1 + 1);
  EXPECT_EQ(magnitudes(plan), 0);
  plan.stages[0][1].share = 0.1;
  plan.scale = number;
  EXPECT_EQ(magnitudes(plan), magnitudes(0.1) + magnitudes(number));
  EXPECT_EQ(argument_sum(plan), expected - 3);
}

struct Pair {
  signed char first;
  int second;
};
struct Nothing {};
struct Gaps {
  Pair pair, pairs[2];
  Nothing nothing;
  double share;
  long long count;
};

// Whatever lay there before, and though registers hold a pair.
TEST(ArgumentSum, FindsNothingBetweenMembers) {
  std::vector<std::pair<std::size_t, std::size_t>> found;
  for (const Word& word : words_of<Gaps>()) found.emplace_back(word.offset, word.width);
  EXPECT_THAT(found, testing::ElementsAre(std::pair(0, 1), std::pair(4, 4), std::pair(8, 1),
                                          std::pair(12, 4), std::pair(16, 1), std::pair(20, 4),
                                          std::pair(32, 8), std::pair(40, 8)));
}

TEST(PointersAmong, ArgumentsAreThoseOfTheirTypes) {
  std::vector<std::pair<std::size_t, std::size_t>> found;
  for (const auto& [argument, offset] :
       pointers_among<int, const double*, std::uint64_t, Stage<double>, Range, void*>())
    found.emplace_back(argument, offset);
  EXPECT_THAT(found, testing::ElementsAre(std::pair(1, 0), std::pair(3, 0), std::pair(3, 8),
                                          std::pair(5, 0)));
}

TEST(ArgumentSum, OfSizesLosesNoDigit) {
  const Plan<float> nothing, plan = {.total = (1LL << 40) - 1};
  EXPECT_EQ(argument_sum(plan) - argument_sum(nothing), 1099511627775);
}

struct Keys {
  long long first = std::numeric_limits<long long>::max(), second = first;
  std::uint64_t third = std::numeric_limits<std::uint64_t>::max();
};

// A step of 4096 launches adds up to what a result's number holds.
TEST(ArgumentSum, OfWholeWordsKeepsRoomForThoseOfOtherLaunches) {
  EXPECT_EQ(argument_sum(Keys()), 3 * ((1LL << 40) - 1));
  EXPECT_EQ(argument_sum(Keys().third), (1LL << 40) - 1);
}

struct Unsigned {
  unsigned char byte = 200;
  std::uint16_t half = 65000;
  std::uint32_t word = 4000000000;
};

TEST(ArgumentSum, TakesIntegersWithoutASignAsTheyAre) {
  EXPECT_EQ(argument_sum(Unsigned()), 200 + 65000 + 4000000000);
}

struct Packed {
  int tile : 4, pitch : 12;
  unsigned rows : 16;
  int count;
};

TEST(ArgumentSum, OfAnAggregateWithBitFieldsStaysWithinIt) {
  EXPECT_NE(argument_sum(Packed{1, 2, 3, 100}), argument_sum(Packed{1, 2, 3, 200}));
  for (const Word& word : words_of<Packed>()) EXPECT_LE(word.offset + word.width, sizeof(Packed));
}

class Half {
 public:
  Half() = default;
  explicit Half(float) {}

 private:
  unsigned short bits_ = 8;  // as if a word of eight bytes began there
};
struct Scaled {
  Half scale = {};
  int count = 5;
  std::complex<float> phase = {};
  union {
    float of_float;
    int of_int;
  } either = {1.5f};
  int none = 0;
};

TEST(ArgumentSum, SkipsClassesThatHideTheirMembersAndUnions) {
  EXPECT_EQ(argument_sum(Half(2)), 0);
  EXPECT_EQ(argument_sum(std::complex<double>(1, 2)), 0);
  EXPECT_EQ(argument_sum(Scaled()), 5);
}

struct Table {
  short rows[1500];
  int count;
};

TEST(ArgumentSum, TakesATableAsLargeAsKernelsTakeOne) {
  Table table = {.rows = {}, .count = 5};
  table.rows[1499] = 7;
  EXPECT_EQ(argument_sum(table), 12);
}

}  // namespace
}  // namespace holdfast
