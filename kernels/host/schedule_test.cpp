// SPDX-License-Identifier: Apache-2.0
// The schedule of threads, compiled here for the instruction set of the tests.
#define HOLDFAST_ISA isa_test
#include "host/schedule.hpp"

#include <gmock/gmock.h>
#include <omp.h>

namespace holdfast::host::HOLDFAST_ISA {
namespace {

using testing::Each;
using testing::ElementsAre;

constexpr int parts = 7, stages = 50;

// do_part(stage, part) on three threads.
template <class DoPart>
void run(Schedule& schedule, DoPart do_part) {
#pragma omp parallel num_threads(3)
  for (int stage = 0; stage < stages; ++stage)
    schedule.work(stage, omp_get_thread_num(), omp_get_num_threads(),
                  [&](int part) { do_part(stage, part); });
}

TEST(Schedule, DoesEveryPartOfEveryStageOnceAndAnewAfterARestart) {
  Schedule schedule(parts);
  std::vector<std::atomic<int>> done(stages * parts);
  for (const int times : {1, 2}) {
    run(schedule, [&](int stage, int part) { ++done[stage * parts + part]; });
    EXPECT_THAT(std::vector<int>(done.begin(), done.end()), Each(times));
    schedule.restart();
  }
}

TEST(Schedule, BeginsAStageWhenAllPartsOfTheOneBeforeAreDone) {
  Schedule schedule(parts);
  for (const bool again : {false, true}) {
    std::vector<std::atomic<int>> done(stages);
    std::atomic<int> early = 0;
    run(schedule, [&](int stage, int part) {
      if (stage > 0 && done[stage - 1] < parts) ++early;
      for (int turn = 0; part == 0 && turn < 100; ++turn) sched_yield();  // others could go ahead
      ++done[stage];
    });
    EXPECT_EQ(early, 0) << again;
    schedule.restart();
  }
}

TEST(Schedule, AThreadTakesItsOwnPartsFirstAndDoesThoseOfThreadsThatStayAway) {
  Schedule schedule(6);
  for (const int stage : {0, 1}) {
    std::vector<int> order;
    schedule.work(stage, 1, 2, [&](int part) { order.push_back(part); });
    EXPECT_THAT(order, ElementsAre(3, 4, 5, 0, 1, 2)) << stage;
  }
}

}  // namespace
}  // namespace holdfast::host::HOLDFAST_ISA
