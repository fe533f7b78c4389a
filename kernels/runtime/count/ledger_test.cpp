// SPDX-License-Identifier: Apache-2.0
#include "runtime/count/ledger.hpp"

#include <gmock/gmock.h>

#include "testing/error_of.hpp"

namespace holdfast {
namespace {

using testing::HasSubstr;
using testing::Pair;
using testing::UnorderedElementsAre;

TEST(Ledger, PeakIsTheHighestSumOfWhatIsHeld) {
  Ledger ledger;
  ledger.allocated(100, "a");
  ledger.allocated(50, "b");
  ledger.released(100, "a");
  ledger.allocated(70, "c");
  EXPECT_EQ(ledger.peak_bytes, 150);
  EXPECT_EQ(ledger.live_bytes, 120);
}

TEST(Ledger, ThePeakIsToldBySite) {
  Ledger ledger;
  ledger.allocated(100, "field");
  ledger.allocated(30, "scratch");
  ledger.allocated(20, "scratch");
  ledger.released(100, "field");
  ledger.allocated(10, "late");
  EXPECT_THAT(ledger.peak_by_site(), UnorderedElementsAre(Pair("field", 100), Pair("scratch", 50)));
  ledger.allocated(200, "late");
  EXPECT_THAT(ledger.peak_by_site(), UnorderedElementsAre(Pair("scratch", 50), Pair("late", 210)));
}

TEST(Ledger, AllocatingInASteadyStepBreaksARule) {
  Ledger ledger;
  ledger.enter(Ledger::Phase::steady);
  EXPECT_THAT(refusal_of([&] { ledger.allocated(64, "scratch"); }, Fault::broken_rule),
              HasSubstr("allocates 64 bytes for 'scratch' in a steady step"));
}

TEST(Ledger, WhatARuleForbidsIsNotCounted) {
  Ledger ledger;
  ledger.enter(Ledger::Phase::steady);
  EXPECT_THROW(ledger.allocated(64, "scratch"), Error);
  EXPECT_EQ(ledger.counts.allocations, 0);
  EXPECT_EQ(ledger.live_bytes, 0);
}

TEST(Ledger, ADeclaredAllocationIsAllowedAndCounted) {
  Ledger ledger;
  ledger.enter(Ledger::Phase::steady, {.may_allocate = true});
  ledger.allocated(64, "scratch");
  EXPECT_EQ(ledger.counts.allocations, 1);
}

TEST(Ledger, PermissionToCompileIsNoneToAllocate) {
  Ledger ledger;
  ledger.enter(Ledger::Phase::steady, {.may_compile = true});
  EXPECT_THROW(ledger.allocated(64, "scratch"), Error);
}

TEST(Ledger, CompilingAndPlanningInASteadyStepBreakARule) {
  Ledger ledger;
  ledger.enter(Ledger::Phase::steady);
  EXPECT_THROW(ledger.program(true, "a.cu"), Error);
  EXPECT_THROW(ledger.plan("a transform"), Error);
}

TEST(Ledger, PermissionToCompileCoversPlans) {
  Ledger ledger;
  ledger.enter(Ledger::Phase::steady, {.may_compile = true});
  ledger.program(true, "a.cu");
  ledger.plan("a transform");
  EXPECT_EQ(ledger.counts.programs, 1);
  EXPECT_EQ(ledger.counts.plans, 1);
}

TEST(Ledger, WhatOneSteadyPhaseMayTheNextMayNot) {
  Ledger ledger;
  ledger.enter(Ledger::Phase::steady, {.may_allocate = true, .may_compile = true});
  ledger.enter(Ledger::Phase::steady);
  EXPECT_THROW(ledger.allocated(64, "scratch"), Error);
  EXPECT_THROW(ledger.plan("a transform"), Error);
}

TEST(Ledger, EverythingIsAllowedAgainAfterASteadyPhase) {
  Ledger ledger;
  ledger.enter(Ledger::Phase::steady);
  ledger.enter(Ledger::Phase::building);
  EXPECT_NO_THROW(ledger.allocated(64, "scratch"));
}

TEST(Ledger, ACachedProgramIsAskedForButDoesNotRunTheCompiler) {
  Ledger ledger;
  ledger.program(false, "a.cu");
  EXPECT_EQ(ledger.counts.programs, 1);
  EXPECT_EQ(ledger.counts.nvrtc_runs, 0);
}

TEST(Counts, ADifferenceOfSnapshotsIsWhatHappenedBetween) {
  Counts before{.launches = 3, .h2d_bytes = 8, .plans = 1};
  Counts after = before;
  after += {.launches = 4, .syncs = 2, .plans = 1};
  const Counts between = after - before;
  EXPECT_EQ(between.launches, 4);
  EXPECT_EQ(between.h2d_bytes, 0);
  EXPECT_EQ(between.syncs, 2);
  EXPECT_EQ(between.plans, 1);
}

TEST(Counts, SumDifferenceAndComparisonKnowEachRowOfTheTable) {
  for (const Counter& row : counter_table) {
    const Counts before{.launches = 1, .syncs = 2};
    Counts after = before;
    EXPECT_TRUE(after == before);
    Counts one;
    one.*row.member = 1;
    after += one;
    EXPECT_FALSE(after == before) << row.name;
    EXPECT_TRUE(after - before == one) << row.name;
  }
}

TEST(Counts, EachMemberHasARowOfItsOwn) {
  Counts all;
  for (const Counter& row : counter_table) {
    EXPECT_EQ(all.*row.member, 0) << row.name;
    all.*row.member = 1;
  }
}

TEST(LedgerLimit, RefusesWhatWouldExceedItAndHoldsNothingOfIt) {
  Ledger ledger;
  ledger.limit_to(100);
  ledger.allocated(60, "a");
  const Error refused = error_of([&] { ledger.allocated(41, "b"); });
  EXPECT_EQ(refused.fault(), Fault::out_of_memory);
  EXPECT_STREQ(refused.what(),
               "failed to allocate 'b': it asks for 41 bytes where 60 are held and 100 allowed; "
               "choose a smaller size");
  EXPECT_EQ(ledger.live_bytes, 60);
  EXPECT_EQ(ledger.counts.allocations, 1);
  ledger.allocated(40, "b");
  ledger.released(60, "a");
  EXPECT_NO_THROW(ledger.allocated(60, "c"));
}

TEST(LedgerLimit, OfNothingIsRefused) {
  for (const std::int64_t bytes : {std::int64_t{0}, std::int64_t{-1}})
    EXPECT_THAT(refusal_of([&] { Ledger().limit_to(bytes); }),
                testing::HasSubstr(text("a limit of ", bytes, " bytes of memory")));
}

}  // namespace
}  // namespace holdfast
