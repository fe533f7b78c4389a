// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <omp.h>
#include <sched.h>

#include <cstdlib>
#include <map>

#include "base/machine.hpp"
#include "runtime/backend/backend.hpp"
#include "testing/error_of.hpp"

namespace holdfast {
namespace {

using Environment = std::map<std::string, std::string>;

const std::vector<std::string> variables = {"HOLDFAST_NUM_THREADS", "HOLDFAST_MEMORY_LIMIT_GB",
                                            "SLURM_CPUS_PER_TASK",  "SLURM_MEM_PER_NODE",
                                            "SLURM_MEM_PER_CPU",    "HOLDFAST_PRECEDENCE"};

HostLimits limits_in(const Environment& environment) {
  for (const auto& variable : variables) unsetenv(variable.c_str());
  for (const auto& [variable, value] : environment) setenv(variable.c_str(), value.c_str(), 1);
  const struct Restore {
    ~Restore() {
      for (const auto& variable : variables) unsetenv(variable.c_str());
    }
  } restore;
  return read_host_limits();
}

TEST(HostLimits, OwnVariablesWinOverSlurms) {
  const auto limits = limits_in({{"HOLDFAST_NUM_THREADS", "3"},
                                 {"SLURM_CPUS_PER_TASK", "16"},
                                 {"HOLDFAST_MEMORY_LIMIT_GB", "1.5"},
                                 {"SLURM_MEM_PER_NODE", "64"}});
  EXPECT_EQ(limits.threads, 3);
  EXPECT_EQ(limits.memory_bytes, 1500000000);
}

TEST(HostLimits, MoreMemoryThanAnyMachineHasIsAsMuchAsOneLikes) {
  for (const auto value : {"1e10", "1e300", "inf"})
    EXPECT_EQ(limits_in({{"HOLDFAST_MEMORY_LIMIT_GB", value}}).memory_bytes, std::int64_t{1} << 62)
        << value;
}

TEST(HostLimits, SlurmsVariablesWinOverTheMachine) {
  const auto limits = limits_in({{"SLURM_CPUS_PER_TASK", "16"}, {"SLURM_MEM_PER_NODE", "64"}});
  EXPECT_EQ(limits.threads, 16);
  EXPECT_EQ(limits.memory_bytes, 64 << 20);
}

TEST(HostLimits, SlurmsMemoryPerCpuIsMultipliedByItsCpus) {
  EXPECT_EQ(limits_in({{"SLURM_CPUS_PER_TASK", "4"}, {"SLURM_MEM_PER_CPU", "10"}}).memory_bytes,
            40 << 20);
}

TEST(HostLimits, SlurmsMemoryPerCpuIsOfAllThreadsWhereItTellsNoCpus) {
  EXPECT_EQ(limits_in({{"HOLDFAST_NUM_THREADS", "3"}, {"SLURM_MEM_PER_CPU", "10"}}).memory_bytes,
            30 << 20);
}

TEST(HostLimits, SlurmsMemoryPerNodeWinsOverThatPerCpu) {
  EXPECT_EQ(limits_in({{"SLURM_MEM_PER_NODE", "64"}, {"SLURM_MEM_PER_CPU", "10"}}).memory_bytes,
            64 << 20);
}

TEST(HostLimits, WithoutAnySettingTwoThreadsAtMost) {
  const auto limits = limits_in({});
  EXPECT_GE(limits.threads, 1);
  EXPECT_LE(limits.threads, 2);
  EXPECT_GT(limits.memory_bytes.value_or(0), 0);
}

// Compared with the gate's own count, which does not know OpenMP. If OpenMP binds threads, it
// remembers the CPUs available before.
TEST(HostLimits, TheCpusThatOpenMpCountsAreThoseThatThisProcessMayUse) {
  if (std::getenv("OMP_PLACES") || std::getenv("OMP_PROC_BIND"))
    GTEST_SKIP() << "OMP_PLACES or OMP_PROC_BIND moves the threads";
  cpu_set_t before;
  ASSERT_EQ(::sched_getaffinity(0, sizeof before, &before), 0);
  EXPECT_EQ(usable_cpus(), omp_get_num_procs());
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(::sched_getcpu(), &one);
  ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(usable_cpus(), 1);
  EXPECT_EQ(omp_get_num_procs(), 1);
  EXPECT_EQ(limits_in({}).threads, 1);
  ASSERT_EQ(::sched_setaffinity(0, sizeof before, &before), 0);
}

TEST(HostLimits, ASettingThatIsNoNumberIsRefusedByName) {
  for (const auto value : {"two", "0", "-1", "2x"})
    EXPECT_EQ(
        refusal_of([&] {
          limits_in({{"HOLDFAST_NUM_THREADS", value}});
        }),
        text("HOLDFAST_NUM_THREADS is '", value, "': set it to a positive number or unset it"));
}

TEST(HostLimits, APrecedenceThatMeansNothingIsRefused) {
  EXPECT_FALSE(limits_in({{"HOLDFAST_PRECEDENCE", "none"}}).precedence);
  EXPECT_EQ(refusal_of([] {
              limits_in({{"HOLDFAST_PRECEDENCE", "always"}});
            }),
            "HOLDFAST_PRECEDENCE is 'always': set it to none or unset it");
}

}  // namespace
}  // namespace holdfast
