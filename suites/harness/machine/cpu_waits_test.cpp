// SPDX-License-Identifier: Apache-2.0
#include "harness/machine/cpu_waits.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <chrono>
#include <filesystem>
#include <latch>
#include <thread>
#include <vector>

#include "base/time.hpp"
#include "harness/machine/kept_awake.hpp"
#include "harness/machine/own_work.hpp"
#include "harness/machine/threads_apart.hpp"

namespace holdfast {
namespace {

TEST(CpuWaits, ManyShortOnesAreOfThreadsThatYieldToNobody) {
  EXPECT_EQ(by_others({.seconds = 0.08, .times = 5000}, 1, false), 0);
}

TEST(CpuWaits, ATimeSliceIsOfAnotherProgram) {
  EXPECT_NEAR(by_others({.seconds = 0.6, .times = 150}, 1, false), 0.6, 0.01);
  EXPECT_NEAR(by_others({.seconds = 3e-3, .times = 1}, 0.05, false), 3e-3, 1e-4);
}

TEST(CpuWaits, NoNumberOfShortOnesExplainsHalfOfTheTime) {
  EXPECT_GT(by_others({.seconds = 0.53, .times = 34'000}, 1, false), 0.4);
}

TEST(CpuWaits, ManyShortOnesBesideOthersAreForThem) {
  EXPECT_EQ(by_others({.seconds = 0.08, .times = 5000}, 1, true), 0.08);
}

TEST(CpuWaits, WhatOthersDidIsAddedUpFromTheFirstQuestionOn) {
  CpuWaits waits;
  const double first = waits.by_others();
  EXPECT_LE(first, waits.seconds());
  EXPECT_GE(waits.by_others(), first);
}

// Four threads take turns on one CPU: together they wait longer than one of them can.
TEST(CpuWaits, AreThoseOfAllThreadsInSeconds) {
  if (!std::filesystem::exists("/proc/self/schedstat")) GTEST_SKIP() << "the kernel tells no waits";
  cpu_set_t allowed;
  ASSERT_EQ(::sched_getaffinity(0, sizeof allowed, &allowed), 0);
  const int cpu = cpus_filled_by(allowed, CPU_SETSIZE).front();
  std::latch ready(4), may_begin(1), done(4), may_end(1);
  const auto made = std::chrono::steady_clock::now();
  CpuWaits earlier;  // than the threads
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      stay_on({cpu});
      ready.count_down();
      may_begin.wait();
      for (const double start = thread_cpu_seconds(); thread_cpu_seconds() - start < 0.03;)
        continue;
      done.count_down();
      may_end.wait();
    });
  ready.wait();
  CpuWaits waits;
  const auto begun = std::chrono::steady_clock::now();
  may_begin.count_down();
  done.wait();
  const double shortest = seconds_since(begun), waited = waits.by_others();
  EXPECT_GT(waited, shortest);
  EXPECT_GT(earlier.by_others(), shortest) << "threads that began later are watched too";
  EXPECT_LT(waited, seconds_since(made) * static_cast<double>(working_threads().size()));
  EXPECT_GE(waits.by_others(), waited) << "the sum since the beginning";
  may_end.count_down();
}

// Two threads take turns on one CPU, so that each has waited for some time when it ends.
TEST(CpuWaits, OfAThreadThatEndsAreKept) {
  if (!std::filesystem::exists("/proc/self/schedstat")) GTEST_SKIP() << "the kernel tells no waits";
  cpu_set_t allowed;
  ASSERT_EQ(::sched_getaffinity(0, sizeof allowed, &allowed), 0);
  const int cpu = cpus_filled_by(allowed, CPU_SETSIZE).front();
  const std::size_t before = working_threads().size();
  std::latch ready(2), done(2), may_end(1);
  std::vector<std::jthread> threads;
  for (int i = 0; i < 2; ++i)
    threads.emplace_back([&] {
      stay_on({cpu});
      ready.arrive_and_wait();
      for (const double start = thread_cpu_seconds(); thread_cpu_seconds() - start < 0.01;)
        continue;
      done.count_down();
      may_end.wait();
    });
  done.wait();
  CpuWaits waits;
  const double waited = waits.seconds();
  may_end.count_down();
  threads.clear();
  while (working_threads().size() > before) continue;  // joined, but still listed
  EXPECT_GE(waits.seconds(), waited - 1e-9) << "but for the order of the sum";
}

}  // namespace
}  // namespace holdfast
