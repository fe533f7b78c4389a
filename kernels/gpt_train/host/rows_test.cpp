// SPDX-License-Identifier: Apache-2.0
// The operations between the products for extreme numbers and NaN, compiled here for the lowest
// instruction set.
#define HOLDFAST_ISA isa_test
#include "gpt_train/host/rows.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "gpt_train/host/attention.hpp"
#include "gpt_train/host/newton_schulz.hpp"
#include "runtime/backend/backend.hpp"

namespace holdfast::gpt_train::HOLDFAST_ISA {
namespace {

template <class T>
class GptRows : public testing::Test {};
using Precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(GptRows, Precisions);

// exp(-a) overflows f32 at -89, and f64 at -710.
TYPED_TEST(GptRows, AGateFarBelowZeroIsShutAndOneFarAboveIsOpen) {
  using T = TypeParam;
  for (const double far : {88., 89., 100., 177., 711., 1000., 1420., 1e4, 1e30}) {
    EXPECT_NEAR(sigmoid<T>(everywhere(T(-far)))[0], 0, 1e-37) << far;
    EXPECT_EQ(sigmoid<T>(everywhere(T(far)))[0], T(1)) << far;
  }
}

// The NaN is neither the largest nor the smallest of its row, nor is it left out.
TYPED_TEST(GptRows, ALogitThatIsNoNumberMakesTheLossNone) {
  using T = TypeParam;
  constexpr int vocabulary = 67, target = 3;
  for (const int place : {0, 31, 66}) {
    std::vector<T> z(vocabulary, T(0.5));
    EXPECT_FALSE(std::isnan(classify<T>(z.data(), vocabulary, target, true, T(1), false)));
    z.assign(vocabulary, T(0.5));
    z[place] = std::numeric_limits<T>::quiet_NaN();
    EXPECT_TRUE(std::isnan(classify<T>(z.data(), vocabulary, target, true, T(1), false))) << place;
  }
}

// The norm of a million equal numbers is added up in double: in f32 it is off by more than 1e-5.
TYPED_TEST(GptRows, ALongMatrixIsNormalisedToTheRoundingOfItsNumbers) {
  using T = TypeParam;
  std::vector<T> x(1 << 20, T(0.1));
  normalise(x.data(), static_cast<std::int64_t>(x.size()));
  EXPECT_NEAR(double{x[0]} * 1024, 1, 1e-6);
}

// Row counts: a multiple of a block's rows, and another.
constexpr int of_triangles[] = {tile, tile - 3};
constexpr int wide = 24;  // columns of the other operand: whole vectors, not a pair of them in f32

template <class T>
std::vector<T> drawn(int count) {
  std::vector<T> values(count);
  for (int k = 0; k < count; ++k) values[k] = static_cast<T>(std::sin(1 + 0.7 * k));
  return values;
}

TYPED_TEST(GptRows, AProductWithATriangleIsTheSameWithoutItsZeros) {
  using T = TypeParam;
  for (const int rows : of_triangles) {
    std::vector<T> triangle = drawn<T>(tile * tile);
    for (int i = 0; i < tile; ++i)
      for (int j = i + 1; j < tile; ++j) triangle[i * tile + j] = 0;
    const std::vector<T> right = drawn<T>(tile * wide);
    const auto product = [&](const Left<T>& left, Part part) {
      std::vector<T> c(tile * wide, T(3));
      tile_product<T>(left, rows, rows, right.data(), wide, wide, c.data(), wide, true, part);
      return c;
    };
    const Left<T> lower{triangle.data(), tile, 1}, upper{triangle.data(), 1, tile};
    EXPECT_EQ(product(lower, Part::depth_to_row), product(lower, Part::whole)) << rows;
    EXPECT_EQ(product(upper, Part::depth_from_row), product(upper, Part::whole)) << rows;
  }
}

TYPED_TEST(GptRows, ATriangleOfAProductIsThatOfTheWhole) {
  using T = TypeParam;
  constexpr int depth = 5;
  const std::vector<T> left = drawn<T>(tile * depth), right = drawn<T>(depth * tile);
  for (const int rows : of_triangles) {
    const auto product = [&](Part part) {
      std::vector<T> c(tile * tile);
      tile_product<T>({left.data(), depth, 1}, rows, depth, right.data(), tile, tile, c.data(),
                      tile, false, part);
      return c;
    };
    const std::vector<T> whole = product(Part::whole), part = product(Part::columns_to_row);
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j <= i; ++j) EXPECT_EQ(part[i * tile + j], whole[i * tile + j]) << i << j;
    EXPECT_EQ(part[tile - 1], T(0));  // first row, last column: left out
  }
}

// A row of two tiles. Its second document begins at the last position of the first tile.
constexpr Shape two_tiles = {.groups = 1, .repeats = 1, .head = 8, .batch = 1, .columns = 100};
constexpr int begin_of_second = tile - 1, pitch = 3 * two_tiles.head;

template <class T>
struct Sequence {
  std::vector<T> qkv = std::vector<T>(two_tiles.columns * pitch);
  std::vector<int> segments = std::vector<int>(two_tiles.columns);
  std::vector<T> o = std::vector<T>(two_tiles.columns * two_tiles.head),
                 log_sums = std::vector<T>(two_tiles.columns);

  Sequence() {
    for (std::size_t k = 0; k < qkv.size(); ++k) qkv[k] = static_cast<T>(std::sin(0.7 * double(k)));
    for (int t = begin_of_second; t < two_tiles.columns; ++t) segments[t] = 1;
  }
  T* key(int t) { return qkv.data() + t * pitch + two_tiles.head; }
};

// Even if that is the only key of a tile that the query sees.
TYPED_TEST(GptRows, AKeyThatIsNoNumberLeavesNoneToThoseWhoSeeIt) {
  using T = TypeParam;
  const auto backend = open_backend("host");
  const FusedAttention<T> attention(*backend, two_tiles, false);
  for (const int place : {begin_of_second, begin_of_second + 5}) {
    Sequence<T> of;
    of.key(place)[2] = std::numeric_limits<T>::quiet_NaN();
    attention.forward(of.qkv.data(), of.segments.data(), of.o.data(), of.log_sums.data());
    for (int t = 0; t < two_tiles.columns; ++t) {
      EXPECT_EQ(std::isnan(of.log_sums[t]), t >= place) << t;
      EXPECT_EQ(std::isnan(of.o[t * two_tiles.head]), t >= place) << t;
    }
  }
}

TYPED_TEST(GptRows, AScoreThatIsNoNumberComesBackToTheKeysThatWereSeen) {
  using T = TypeParam;
  constexpr int query = 80;
  const auto backend = open_backend("host");
  const FusedAttention<T> attention(*backend, two_tiles, true);
  Sequence<T> of;
  attention.forward(of.qkv.data(), of.segments.data(), of.o.data(), of.log_sums.data());
  of.log_sums[query] = std::numeric_limits<T>::quiet_NaN();
  std::vector<T> d_o(of.o.size(), T(1)), d_qkv(of.qkv.size());
  attention.backward(of.qkv.data(), of.segments.data(), of.o.data(), of.log_sums.data(), d_o.data(),
                     d_qkv.data());
  for (int t = begin_of_second; t <= query; ++t)
    for (const int part : {1, 2})  // its key and its value
      EXPECT_TRUE(std::isnan(d_qkv[t * pitch + part * two_tiles.head])) << t << ' ' << part;
  EXPECT_FALSE(std::isnan(d_qkv[(query + 1) * pitch]));
}

}  // namespace
}  // namespace holdfast::gpt_train::HOLDFAST_ISA
