// SPDX-License-Identifier: Apache-2.0
#include "arrays/arena.hpp"

#include <gtest/gtest.h>

namespace holdfast::arrays {
namespace {

struct ArenaTest : testing::Test {
  std::unique_ptr<Backend> backend = open_backend("host");
  Arena arena{*backend};
};

TEST_F(ArenaTest, PutsEachArrayIntoTheLowestGapThatTakesIt) {
  EXPECT_EQ(arena.take(300), 0u);
  EXPECT_EQ(arena.take(1), 512u);
  EXPECT_EQ(arena.take(256), 768u);
  arena.give_back(0);
  arena.give_back(512);
  EXPECT_EQ(arena.take(769), 1024u);
  EXPECT_EQ(arena.take(257), 0u);
  EXPECT_EQ(arena.take(256), 512u);
  EXPECT_EQ(arena.take(0), 2048u);
  EXPECT_EQ(arena.take(0), 2304u) << "an empty array has a place of its own";
}

TEST_F(ArenaTest, PeakIsTheHighestEndThatWasHeld) {
  for (int i = 0; i < 3; ++i) const Array<double> one(arena, 100), other(arena, 10);
  EXPECT_EQ(arena.peak_bytes(), 1024u + 256u);
}

TEST_F(ArenaTest, TakesItsPeakFromTheBackendWhenItOpensAndNothingBefore) {
  { const Array<double> one(arena, 100), other(arena, 10); }
  EXPECT_EQ(backend->ledger.peak_bytes, 0);
  arena.open();
  EXPECT_EQ(backend->ledger.peak_bytes, 1024 + 256);
}

TEST_F(ArenaTest, RefusesAStepThatTakesMoreThanItsRehearsal) {
  { const Array<double> one(arena, 32); }
  arena.open();
  EXPECT_NO_THROW(Array<double>(arena, 32));
  EXPECT_THROW(Array<double>(arena, 33), Error);
}

}  // namespace
}  // namespace holdfast::arrays
