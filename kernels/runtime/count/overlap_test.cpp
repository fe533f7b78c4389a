// SPDX-License-Identifier: Apache-2.0
#include "runtime/count/overlap.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace holdfast {
namespace {

TEST(Overlap, IsOfATransferWithALaunchThatNothingPutsBeforeOrAfterIt) {
  Overlap before;
  before.launch();
  EXPECT_EQ(before.transfer(300), 300);
  Overlap after;
  EXPECT_EQ(after.transfer(300), 0);
  EXPECT_EQ(after.launch(), 300);
  EXPECT_EQ(after.launch(), 0) << "a transfer is counted once";
}

TEST(Overlap, IsNoneWithALaunchThatWaitsForTheTransfer) {
  Overlap overlap;
  EXPECT_EQ(overlap.transfer(300), 0);
  overlap.wait(Lane::main, overlap.recorded(Lane::copies));
  EXPECT_EQ(overlap.launch(), 0);
}

TEST(Overlap, IsNoneWithALaunchThatTheTransferWaitsFor) {
  Overlap overlap;
  overlap.launch();
  overlap.wait(Lane::copies, overlap.recorded(Lane::main));
  EXPECT_EQ(overlap.transfer(300), 0);
}

TEST(Overlap, IsNoneWithWhatTheHostHasWaitedFor) {
  Overlap of_launches;
  of_launches.launch();
  of_launches.await(of_launches.recorded(Lane::main));
  EXPECT_EQ(of_launches.transfer(300), 0);
  of_launches.await(of_launches.recorded(Lane::copies));
  EXPECT_EQ(of_launches.launch(), 0);
  Overlap of_all;
  of_all.launch();
  of_all.await_all();
  EXPECT_EQ(of_all.transfer(300), 0);
}

TEST(Overlap, FollowsTheOrderFromLaneToLane) {
  Overlap overlap;
  overlap.launch();
  overlap.wait(Lane::copies, overlap.recorded(Lane::main));
  // The event comes after all that its lane has waited for.
  const Progress copied = overlap.recorded(Lane::copies);
  EXPECT_EQ(copied.launches, 1);
  overlap.await(copied);
  overlap.wait(Lane::main, copied);
  EXPECT_EQ(overlap.transfer(300), 0);
}

TEST(Overlap, EndsAtAnEventAndNotAtWhatFollowsIt) {
  Overlap overlap;
  overlap.launch();
  const Progress first = overlap.recorded(Lane::main);
  overlap.launch();
  overlap.wait(Lane::copies, first);
  EXPECT_EQ(overlap.transfer(300), 300) << "the second launch is beside it";
}

// Batches through `slots` buffers: a copy waits for the kernel that read its buffer, a kernel for
// its copy.
std::int64_t bytes_beside_kernels(int slots, int batches) {
  Overlap overlap;
  std::vector<Progress> read;
  std::int64_t bytes = 0;
  for (int batch = 0; batch < batches; ++batch) {
    if (batch >= slots) overlap.wait(Lane::copies, read[static_cast<std::size_t>(batch - slots)]);
    bytes += overlap.transfer(1);
    overlap.wait(Lane::main, overlap.recorded(Lane::copies));
    bytes += overlap.launch();
    read.push_back(overlap.recorded(Lane::main));
  }
  return bytes;
}

TEST(Overlap, TakesTwoBuffers) {
  EXPECT_EQ(bytes_beside_kernels(1, 8), 0);
  EXPECT_EQ(bytes_beside_kernels(2, 8), 7);  // all but the first
  EXPECT_EQ(bytes_beside_kernels(3, 8), 7);
}

// Batches through two buffers, each read by a large kernel; a small one adds up its result.
struct Stream {
  Overlap overlap = {};
  Progress read[2] = {};

  // A copy waits for the large kernel that `newest` or its own buffer tells.
  std::int64_t lone_launches(int batches, bool newest) {
    std::int64_t before = 0;
    for (int batch = 0; batch < batches; ++batch) {
      if (batch == 2) before = overlap.lone_launches();
      overlap.wait(Lane::copies, read[newest ? (batch + 1) % 2 : batch % 2]);
      overlap.transfer(1);
      overlap.wait(Lane::main, overlap.recorded(Lane::copies));
      overlap.launch();
      read[batch % 2] = overlap.recorded(Lane::main);
      overlap.launch();
    }
    return overlap.lone_launches() - before;
  }
};

TEST(Overlap, TellsLaunchesThatACopyWaitsForAndNoneIsBeside) {
  EXPECT_EQ(Stream().lone_launches(10, false), 0);
  EXPECT_EQ(Stream().lone_launches(10, true), 8);  // each large kernel
  Overlap none;
  for (int i = 0; i < 5; ++i) none.launch();
  none.await_all();
  EXPECT_EQ(none.lone_launches(), 0) << "nothing is copied";
  none.transfer(1);
  EXPECT_EQ(none.lone_launches(), 5);
}

}  // namespace
}  // namespace holdfast
