// SPDX-License-Identifier: Apache-2.0
#include "harness/measure/other_work.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/time.hpp"

namespace holdfast {
namespace {

TEST(OtherWork, WhatThisProcessTookIsNotOfOthersNorIsIdleTime) {
  const auto ticks = static_cast<double>(::sysconf(_SC_CLK_TCK));
  EXPECT_DOUBLE_EQ(seconds_of_others("cpu  100 20 3 5000 600 7 8 90 0 0\ncpu0 1 2", 30 / ticks),
                   108 / ticks);
}

TEST(OtherWork, AProgramThatKeepsAProcessorBusyHoldsThreadsUp) {
  EXPECT_TRUE(holds_threads_up(0.1, 0.1));
  EXPECT_TRUE(holds_threads_up(10, 10));
}

TEST(OtherWork, ATickAndWhatRunsInTheBackgroundDoNot) {
  EXPECT_FALSE(holds_threads_up(0.02, 0.1));
  EXPECT_FALSE(holds_threads_up(1, 10));
}

TEST(OtherWork, IsTakenForGrantedWhereTheKernelDoesNotTellAndBeforeItCan) {
  const double absent = seconds_of_others("", 1);
  EXPECT_TRUE(holds_threads_up(absent - absent, 1));
  EXPECT_TRUE(OtherWork().ran());
}

TEST(OtherWork, ABusyProcessIsSeen) {
  const pid_t other = ::fork();
  if (other == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) asm volatile("");
  }
  OtherWork work;
  const double start = thread_cpu_seconds();
  while (thread_cpu_seconds() - start < 0.2) continue;
  EXPECT_TRUE(work.ran());
  ::kill(other, SIGKILL);
  ::waitpid(other, nullptr, 0);
}

}  // namespace
}  // namespace holdfast
