// SPDX-License-Identifier: Apache-2.0
#include "families/given.hpp"

#include <gmock/gmock.h>

namespace holdfast {
namespace {

enum class Taste { sweet, sour };
constexpr Words<Taste, 2> tastes = {"taste", {"sweet", "sour"}};

int at_least_one(int n) {
  if (n < 1) throw Error(Fault::bad_input, "none");
  return n;
}

struct Options : testing::Test {
  SuiteOptions options{.custom = {{"taste", "sour"}, {"size", "7"}, {"none", "0"}, {"flag", ""}}};
  Given given{options};
};

TEST_F(Options, PutAWordWhereARowKeepsIt) {
  Taste taste = Taste::sweet;
  EXPECT_FALSE(given.word("other", tastes, taste));
  EXPECT_EQ(taste, Taste::sweet);
  EXPECT_TRUE(given.word("taste", tastes, taste));
  EXPECT_EQ(taste, Taste::sour);
  EXPECT_THROW(given.word("size", tastes, taste), Error);
}

TEST_F(Options, PutANumberWhereARowKeepsIt) {
  int size = 3;
  std::uint64_t seed = 0;
  EXPECT_FALSE(given.number("other", size));
  EXPECT_EQ(size, 3);
  EXPECT_TRUE(given.number("size", size) && given.number("size", seed));
  EXPECT_EQ(size, 7);
  EXPECT_EQ(seed, 7u);
  EXPECT_THROW(given.number("taste", size), Error);
}

TEST_F(Options, MayBeRefusedByACheckOfTheirOwn) {
  int size = 3;
  EXPECT_TRUE(given.number("size", size, at_least_one));
  EXPECT_THROW(given.number("none", size, at_least_one), Error);
  EXPECT_EQ(size, 7);
}

TEST_F(Options, MayBeSwitches) {
  EXPECT_TRUE(given.has("flag"));
  EXPECT_FALSE(given.has("other"));
}

}  // namespace
}  // namespace holdfast
