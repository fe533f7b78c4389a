// SPDX-License-Identifier: Apache-2.0
// Decodes what was written.
#include "harness/profile/memory_profile.hpp"

#include <gmock/gmock.h>
#include <map>

#include "harness/testing/pprof.hpp"
#include "harness/testing/synthetic.hpp"

namespace holdfast {
namespace {

using testing::ElementsAre;
using testing::Pair;

pprof::Decoded decoded_of(const Profiled& profiled) {
  return pprof::Decoded(memory_profile(profiled));
}

Synthetic holding() {
  Synthetic device;
  device.allocate("state", 1000);
  device.allocate("scratch", 300);
  device.release("scratch", 300);
  device.open("setup");
  device.open("tables");
  device.allocate("tables", 500);
  device.allocate("tables", 250);
  device.close();
  device.close();
  device.release("tables", 250);
  return device;
}

TEST(MemoryProfile, SumsToThePeak) {
  const Synthetic device = holding();
  const pprof::Decoded decoded = decoded_of(device.data);
  EXPECT_EQ(decoded.bytes(), 1750);
  EXPECT_EQ(decoded.bytes(), device.data.peak_bytes);
}

TEST(MemoryProfile, StacksSiteScopesVariantAndCase) {
  const Synthetic device = holding();
  const pprof::Decoded decoded = decoded_of(device.data);
  ASSERT_EQ(decoded.samples.size(), 2);
  EXPECT_THAT(decoded.samples[0].stack, ElementsAre("state", "optimized", "toy/count/n:1/f64"));
  EXPECT_THAT(decoded.samples[1].stack,
              ElementsAre("tables", "tables", "setup", "optimized", "toy/count/n:1/f64"));
  EXPECT_EQ(decoded.samples[1].count, 2);
}

TEST(MemoryProfile, SaysWhatItsNumbersAre) {
  const Synthetic device = holding();
  const pprof::Decoded decoded = decoded_of(device.data);
  const auto types = decoded.profile.messages(1);
  ASSERT_EQ(types.size(), 2);
  EXPECT_EQ(decoded.word(types[0].number(1)), "allocations");
  EXPECT_EQ(decoded.word(types[0].number(2)), "count");
  EXPECT_EQ(decoded.word(types[1].number(1)), "space");
  EXPECT_EQ(decoded.word(types[1].number(2)), "bytes");
  EXPECT_EQ(decoded.word(decoded.profile.number(14)), "space");
}

TEST(MemoryProfile, BeginsItsStringsWithTheEmptyOneAndTellsTheTime) {
  const Synthetic device = holding();
  const pprof::Decoded decoded = decoded_of(device.data);
  EXPECT_EQ(decoded.strings.at(0), "");
  EXPECT_GT(decoded.profile.number(9), 1'600'000'000'000'000'000);
  EXPECT_EQ(decoded.profile.number(10), 6000);
  EXPECT_EQ(decoded.profile.number(12), 1);
}

TEST(HeldAtPeak, TakesAReleaseForTheLatestOfItsSiteAndSize) {
  Synthetic device;
  device.allocate("a", 10);
  device.open("inner");
  device.allocate("a", 10);
  device.close();
  device.release("a", 10);
  device.allocate("b", 100);
  const auto held = held_at_peak(device.data.recorded.activities);
  ASSERT_EQ(held.size(), 2);
  EXPECT_EQ(held[0].site, "a");
  EXPECT_EQ(held[0].scope, -1);
  EXPECT_EQ(held[1].bytes, 100);
}

TEST(HeldAtPeak, LosesByAReleaseNothingOfAnotherSiteOrSize) {
  Synthetic device;
  device.allocate("a", 10);
  device.allocate("b", 10);
  device.allocate("a", 20);
  device.release("a", 10);
  device.allocate("c", 100);
  std::map<std::string, std::int64_t> bytes;
  for (const Held& held : held_at_peak(device.data.recorded.activities))
    bytes[held.site] = held.bytes;
  EXPECT_THAT(bytes, ElementsAre(Pair("a", 20), Pair("b", 10), Pair("c", 100)));
}

// As in the ledger's own account by site.
TEST(HeldAtPeak, IsWhatIsHeldWhenThePeakIsReachedFirst) {
  Synthetic device;
  for (const char* site : {"first", "again"}) {
    device.allocate(site, 10);
    device.release(site, 10);
  }
  const auto held = held_at_peak(device.data.recorded.activities);
  ASSERT_EQ(held.size(), 1);
  EXPECT_EQ(held[0].site, "first");
}

TEST(HeldAtPeak, IsNothingWhereNothingWasAllocated) {
  EXPECT_TRUE(held_at_peak({}).empty());
}

}  // namespace
}  // namespace holdfast
