// SPDX-License-Identifier: Apache-2.0
// Barriers that only some of the participating threads reach: the emulated grid reports them
// instead of letting them pass.
#include <gmock/gmock.h>

#include "runtime/emulation/emulation.hpp"
#include "runtime/emulation/emulation_shim.hpp"
#include "testing/error_of.hpp"

namespace holdfast::emulation {
namespace {

using testing::HasSubstr;

struct Barriers : testing::TestWithParam<Order> {
  static std::string refusal(const std::function<void()>& body) {
    return refusal_of([&] { run_grid("toy", {.block = {64}}, GetParam(), body); }, Fault::device);
  }
};
INSTANTIATE_TEST_SUITE_P(InBothOrders, Barriers, testing::Values(Order::forward, Order::backward),
                         [](const auto& tested) {
                           return tested.param == Order::forward ? "forward" : "backward";
                         });

TEST_P(Barriers, OfTwoLinesDoNotMeet) {
  const auto each_half_at_its_own = [] {  // not within a macro, which would be a single line
    if (threadIdx.x < 32)                 // NOLINT(bugprone-branch-clone): the lines differ
      __syncthreads();
    else
      __syncthreads();
  };
  EXPECT_THAT(refusal(each_half_at_its_own),
              HasSubstr("which not all threads reach: 0 of 64 have ended, 64 wait"));
}

TEST_P(Barriers, OfAWarpAreForTheLanesThatTheyNameAlone) {
  EXPECT_THAT(refusal([] { __syncwarp(threadIdx.x % 32 < 16 ? 0xffffffffu : 0xffff0000u); }),
              HasSubstr("which not all threads reach: 32 of 64 have ended, 32 wait"));
}

TEST_P(Barriers, OfAGridNeedACooperativeLaunch) {
  EXPECT_THAT(refusal([] { grid_barrier(std::source_location::current()); }),
              HasSubstr("kernel toy waits for its grid, but its launch is not cooperative"));
}

TEST_P(Barriers, OfAGridLetTheOthersPassABlockThatFailed) {
  const auto one_fails = [] {
    if (blockIdx.x == 1) __trap();
    grid_barrier(std::source_location::current());
    grid_barrier(std::source_location::current());
  };
  const LaunchShape shape = {.grid = {3}, .block = {8}, .cooperative = true};
  EXPECT_THAT(refusal_of([&] { run_grid("toy", shape, GetParam(), one_fails); }, Fault::device),
              HasSubstr("__trap()"));
}

// With copies made as late as possible.
TEST(LateCopies, ThatNobodyClosedNorWaitedForAreAnError) {
  EXPECT_THAT(refusal_of(
                  [] {
                    run_grid("toy", {}, Order::forward, [] {
                      alignas(16) char to[16] = {}, from[16] = {};
                      copy_behind(to, from);
                    });
                  },
                  Fault::device),
              HasSubstr("ends with copies that it never waited for"));
}

}  // namespace
}  // namespace holdfast::emulation
