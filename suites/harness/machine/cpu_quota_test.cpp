// SPDX-License-Identifier: Apache-2.0
#include "harness/machine/cpu_quota.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "base/files.hpp"

namespace holdfast {
namespace {

namespace fs = std::filesystem;

// A fake machine with control groups.
class Grouped : public testing::Test {
 protected:
  const NewFolder folder_{testing::TempDir() + "cpu-quota-"};
  const fs::path& root_ = folder_.path();

  void write(const std::string& file, const std::string& text) const {
    fs::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text;
  }
};

TEST_F(Grouped, NobodyLimitsAProcessOutsideOfContainers) {
  EXPECT_EQ(cpu_quota(root_), std::nullopt);
  write("proc/self/cgroup", "0::/user.slice\n1:cpu:/\n\nnonsense\n");
  write("sys/fs/cgroup/user.slice/cpu.max", "max 100000\n");
  write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
  write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(cpu_quota(root_), std::nullopt);
}

TEST_F(Grouped, TheLeastLimitOfItsGroupsAndThoseAboveThemHolds) {
  write("proc/self/cgroup", "0::/pod/container\n");
  write("sys/fs/cgroup/pod/cpu.max", "150000 100000\n");
  write("sys/fs/cgroup/pod/container/cpu.max", "400000 100000\n");
  EXPECT_EQ(cpu_quota(root_), 1.5);
  write("sys/fs/cgroup/pod/container/cpu.max", "50000 100000\n");
  EXPECT_EQ(cpu_quota(root_), 0.5);
}

TEST_F(Grouped, AContainerMaySeeItsOwnGroupAsTheTopmost) {
  write("proc/self/cgroup", "5:cpuacct,cpu:/docker/1f2e\n0::/\n");
  write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "50000\n");
  write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(cpu_quota(root_), 0.5);
}

}  // namespace
}  // namespace holdfast
