// SPDX-License-Identifier: Apache-2.0
#include "harness/machine/other_work.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <limits>
#include <string>

#include "base/time.hpp"

namespace holdfast {
namespace {

// A machine whose kernel reports scripted CPU seconds.
class ToldMachine : public testing::Test {
 protected:
  const std::string stat_ = testing::TempDir() + "other-work-" + std::to_string(::getpid());

  ~ToldMachine() override { ::unlink(stat_.c_str()); }
  void computed(double seconds) const {
    const double ticks = seconds * static_cast<double>(::sysconf(_SC_CLK_TCK));
    std::ofstream(stat_) << "cpu  " << ticks << " 0 0 5000 600 0 0 90 0 0\n";
  }
  // For longer than OtherWork needs.
  static void compute() {
    const double start = process_cpu_seconds();
    while (process_cpu_seconds() - start < 0.15) continue;
  }
};

TEST_F(ToldMachine, WhatOnlyThisProcessComputesIsNoOtherWork) {
  computed(process_cpu_seconds());
  OtherWork work(stat_);
  compute();
  computed(process_cpu_seconds());
  EXPECT_FALSE(work.ran());
}

TEST_F(ToldMachine, WhatComputesBesideItIs) {
  computed(process_cpu_seconds());
  OtherWork work(stat_);
  compute();
  computed(process_cpu_seconds() + 1);
  EXPECT_TRUE(work.ran());
  compute();
  computed(process_cpu_seconds() + 1);  // and is no longer there
  EXPECT_FALSE(work.ran());
}

TEST_F(ToldMachine, EachQuestionIsAboutTheTimeSinceTheOneBefore) {
  computed(process_cpu_seconds());
  OtherWork work(stat_);
  for (int i = 0; i < 3; ++i) compute();
  computed(process_cpu_seconds());
  const auto before = std::chrono::steady_clock::now();
  EXPECT_FALSE(work.ran());
  compute();
  computed(process_cpu_seconds() + 0.5 * seconds_since(before) + 0.02);
  EXPECT_TRUE(work.ran());
}

TEST_F(ToldMachine, OtherWorkIsTakenForGrantedWhereTheKernelDoesNotTellAndBeforeItCan) {
  computed(process_cpu_seconds());
  EXPECT_TRUE(OtherWork(stat_).ran());
  OtherWork untold("/nonexistent/stat");
  compute();
  EXPECT_TRUE(untold.ran());
}

TEST(OtherWork, ABusyProcessOfThisMachineIsSeen) {
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

TEST(HoldsThreadsUp, AProgramThatKeepsAProcessorBusyDoes) {
  EXPECT_TRUE(holds_threads_up(0.1, 0.1));
  EXPECT_TRUE(holds_threads_up(10, 10));
}

TEST(HoldsThreadsUp, ATickAndWhatRunsInTheBackgroundDoNot) {
  EXPECT_FALSE(holds_threads_up(0.02, 0.1));
  EXPECT_FALSE(holds_threads_up(1, 10));
}

TEST(HoldsThreadsUp, WhatNobodyTellsMay) {
  EXPECT_TRUE(holds_threads_up(std::numeric_limits<double>::quiet_NaN(), 1));
}

}  // namespace
}  // namespace holdfast
