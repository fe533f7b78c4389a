// SPDX-License-Identifier: Apache-2.0
#include "calibration/host_caches.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "base/files.hpp"

namespace holdfast::calibration {
namespace {

// A machine described as the system would, in a private folder.
class HostCaches : public testing::Test {
 protected:
  void cpus(const std::string& list) { write(root_ / "online", list); }
  void cache(int index, int level, const std::string& type, const std::string& size,
             const std::string& sharers) {
    const auto folder = root_ / "cpu0" / "cache" / ("index" + std::to_string(index));
    write(folder / "level", std::to_string(level));
    write(folder / "type", type);
    write(folder / "size", size);
    write(folder / "shared_cpu_list", sharers);
  }

  const NewFolder folder_{testing::TempDir() + "caches_"};
  const std::filesystem::path& root_ = folder_.path();

 private:
  static void write(const std::filesystem::path& file, const std::string& text) {
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text << "\n";
  }
};

TEST_F(HostCaches, AreReadLevelByLevel) {
  cpus("0-15");
  cache(0, 1, "Data", "32K", "0,8");
  cache(1, 1, "Instruction", "64K", "0,8");
  cache(2, 2, "Unified", "1024K", "0,8");
  cache(3, 3, "Unified", "32M", "0-3,8-11");
  const auto caches = host_caches(root_);
  ASSERT_EQ(caches.size(), 3u);
  EXPECT_EQ(caches[0].bytes, 32u << 10);
  EXPECT_EQ(caches[0].sharers, 2);
  EXPECT_EQ(caches[1].bytes, 1u << 20);
  EXPECT_EQ(caches[1].instances, 8);
  EXPECT_EQ(caches[2].bytes, 32u << 20);
  EXPECT_EQ(caches[2].instances, 2);
}

TEST_F(HostCaches, HoldOneInstancePerThreadAtMost) {
  cpus("0-15");
  cache(0, 2, "Unified", "1M", "0-1");
  const Cache second = host_caches(root_)[1];
  EXPECT_EQ(second.team_bytes(1), 1u << 20);
  EXPECT_EQ(second.team_bytes(2), 2u << 20);
  EXPECT_EQ(second.team_bytes(100), 8u << 20);
}

TEST_F(HostCaches, HaveCommonSizesWhereTheSystemIsSilent) {
  const auto caches = host_caches(root_);
  ASSERT_EQ(caches.size(), 3u);
  for (std::size_t i = 0; i + 1 < caches.size(); ++i)
    EXPECT_LT(caches[i].bytes, caches[i + 1].bytes);
}

TEST_F(HostCaches, ALevelThatIsHiddenKeepsItsCommonSize) {
  const auto common = host_caches(root_ / "nowhere");
  cpus("0-1");
  cache(0, 1, "Data", "24K", "0");
  cache(1, 2, "Unified", "", "0");
  const auto caches = host_caches(root_);
  EXPECT_EQ(caches[0].bytes, 24u << 10);
  EXPECT_EQ(caches[1].bytes, common[1].bytes);
  EXPECT_EQ(caches[2].bytes, common[2].bytes);
}

TEST(HostCachesOfThisMachine, GrowWithTheirLevel) {
  const auto caches = host_caches();
  EXPECT_LT(caches[0].bytes, caches[1].bytes);
  EXPECT_LT(caches[1].bytes, caches[2].bytes);
}

}  // namespace
}  // namespace holdfast::calibration
