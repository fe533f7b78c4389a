// SPDX-License-Identifier: Apache-2.0
#include "families/given.hpp"

#include <gmock/gmock.h>

namespace holdfast {
namespace {

enum class Taste { sweet, sour };
constexpr Words<Taste, 2> tastes = {"taste", {"sweet", "sour"}};

struct Options : testing::Test {
  SuiteOptions options{.custom = {{"taste", "sour"}, {"size", "7"}, {"rate", "0.5s"}}};
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

TEST_F(Options, PutANumberWhereARowKeepsItUnlessItIsRefused) {
  std::uint64_t seed = 3;
  const auto refuse = [](int n) -> int { throw Error(Fault::bad_input, text(n)); };
  EXPECT_FALSE(given.number("other", seed, refuse));
  EXPECT_THROW(given.number("size", seed, refuse), Error);
  EXPECT_THROW(given.number("taste", seed), Error);
  EXPECT_EQ(seed, 3u);
  EXPECT_TRUE(given.number("size", seed));
  EXPECT_EQ(seed, 7u);
}

TEST_F(Options, PutARealNumberWhereARowKeepsIt) {
  double rate = 0.1;
  EXPECT_FALSE(given.real("other", rate));
  EXPECT_THROW(given.real("taste", rate), Error);
  EXPECT_EQ(rate, 0.1);
  EXPECT_THROW(given.real("rate", rate), Error);
  EXPECT_TRUE(given.real("size", rate));
  EXPECT_EQ(rate, 7);
}

}  // namespace
}  // namespace holdfast
