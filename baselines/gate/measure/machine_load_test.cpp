// SPDX-License-Identifier: Apache-2.0
#include "gate/measure/machine_load.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "gate/base/process.hpp"

namespace holdfast::gate {
namespace {

TEST(OthersWatch, TellsAPartOfTheMachine) {
  const OthersWatch watch;
  EXPECT_GE(watch.share(), 0);
  EXPECT_LE(watch.share(), 1);
}

// The kernel's files, below a folder.
class SyntheticMachine : public testing::Test {
 protected:
  TemporaryFolder folder_{"machine-test"};

  static Quality told_by(const MachineWatch& watch) {
    Quality quality;
    watch.describe(quality, {});
    return quality;
  }
  void tell(const std::string& path, const std::string& content) const {
    std::filesystem::create_directories((folder_.path() / path).parent_path());
    std::ofstream(folder_.path() / path) << content;
  }
  void tell_ticks(int user, int idle, int steal) const {
    tell("proc/stat", text("cpu  ", user, " 0 0 ", idle, " 0 0 0 ", steal, " 0 0\n"));
  }
};

TEST_F(SyntheticMachine, StealIsAShareOfAllTicksOfTheRun) {
  tell_ticks(1000, 5000, 500);
  MachineWatch watch(folder_.path());
  tell_ticks(1600, 5300, 600);
  watch.look();
  Quality quality;
  watch.describe(quality, 0.5);
  EXPECT_DOUBLE_EQ(*quality.steal_fraction, 0.1);
  EXPECT_EQ(quality.others_fraction, 0.5);
  EXPECT_TRUE(quality.valid);
}

TEST_F(SyntheticMachine, ARunOfWhichTheHypervisorKeptMuchIsInvalid) {
  tell_ticks(0, 0, 0);
  MachineWatch watch(folder_.path());
  tell_ticks(70, 0, 30);
  watch.look();
  const Quality quality = told_by(watch);
  EXPECT_FALSE(quality.valid);
  EXPECT_NE(quality.reasons.at(0).find("the hypervisor kept the CPUs for 30 %"), std::string::npos)
      << quality.reasons.at(0);
}

TEST_F(SyntheticMachine, WhatTheHypervisorKeptBeforeAStopCountsWhereARunGoesOn) {
  const std::filesystem::path kept = folder_.path() / "kept";
  tell_ticks(0, 0, 0);
  MachineWatch stopped(folder_.path(), kept);
  tell_ticks(50, 0, 50);
  stopped.look();
  MachineWatch resumed(folder_.path(), kept);
  tell_ticks(150, 0, 50);
  resumed.look();
  const Quality quality = told_by(resumed);
  EXPECT_DOUBLE_EQ(*quality.steal_fraction, 0.25);
  EXPECT_FALSE(quality.valid);
}

TEST_F(SyntheticMachine, WhatIsKeptOfAStoppedRunMayBeCutShort) {
  tell("kept", "[1, 2");
  tell_ticks(0, 0, 0);
  MachineWatch watch(folder_.path(), folder_.path() / "kept");
  tell_ticks(90, 0, 10);
  watch.look();
  const Quality quality = told_by(watch);
  EXPECT_DOUBLE_EQ(*quality.steal_fraction, 0.1);
}

TEST_F(SyntheticMachine, WaitingForMemoryIsToldAndSpoilsTheRun) {
  tell("proc/pressure/memory", "some avg10=0.00 avg60=0.00 avg300=0.00 total=1000000\nfull x\n");
  MachineWatch watch(folder_.path());
  tell("proc/pressure/memory", "some avg10=9.00 avg60=0.00 avg300=0.00 total=900000000\nfull x\n");
  watch.look();
  const Quality quality = told_by(watch);
  EXPECT_EQ(quality.memory_stall_fraction, 1);
  EXPECT_FALSE(quality.valid);
}

TEST_F(SyntheticMachine, WaitsForMemoryAreToldInMicroseconds) {
  tell("proc/pressure/memory", "some avg10=0.00 avg60=0.00 avg300=0.00 total=2500000\nfull x\n");
  EXPECT_DOUBLE_EQ(*machine_state(folder_.path()).memory_stall_seconds, 2.5);
}

TEST_F(SyntheticMachine, TheLeastClockOfTheFastestCpuCountsWhileOneComputes) {
  const auto clocks = [&](int first, int second) {
    tell("sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", text(first, "\n"));
    tell("sys/devices/system/cpu/cpu1/cpufreq/scaling_cur_freq", text(second, "\n"));
  };
  clocks(800'000, 800'000);
  MachineWatch watch(folder_.path());
  clocks(2'000'000, 1'000'000);
  watch.look_at_clock();
  clocks(3'000'000, 3'000'000);
  watch.look_at_clock();
  clocks(800'000, 800'000);
  watch.look();
  const Quality quality = told_by(watch);
  EXPECT_DOUBLE_EQ(*quality.cpu_clock_hz, 2e9);
}

TEST_F(SyntheticMachine, WithoutAGovernorTheProcessorsOwnWordCounts) {
  tell("proc/cpuinfo", "cpu MHz\t\t: 800.000\nprocessor\t: 1\ncpu MHz\t\t: 2445.406\n");
  EXPECT_DOUBLE_EQ(*machine_state(folder_.path()).cpu_clock_hz, 2.445406e9);
}

TEST_F(SyntheticMachine, WhatNobodyTellsStaysEmpty) {
  MachineWatch watch(folder_.path());
  watch.look();
  const Quality quality = told_by(watch);
  EXPECT_FALSE(quality.steal_fraction || quality.memory_stall_fraction || quality.cpu_clock_hz);
  EXPECT_TRUE(quality.valid);
}

}  // namespace
}  // namespace holdfast::gate
