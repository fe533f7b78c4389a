// SPDX-License-Identifier: Apache-2.0
#include "gate/commands/doctor.hpp"

#include <grp.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "gate/base/json.hpp"

namespace holdfast::gate {
namespace {

TEST(Doctor, EachGpuIsOneSlotOfTheResourceFile) {
  const nlohmann::json json = nlohmann::json::parse(ctest_resources(2));
  EXPECT_EQ(json.at("version").at("major"), 1);
  EXPECT_EQ(json.at("local").at(0).at("gpus").at(1), (nlohmann::json{{"id", "1"}, {"slots", 1}}));
}

// The owner's group is whichever the test's folder has.
TEST(Doctor, AGpuThatMayNotBeOpenedNamesTheGroupToJoin) {
  const auto devices = std::filesystem::path(testing::TempDir()) / "doctor_devices";
  std::filesystem::remove_all(devices);
  std::filesystem::create_directories(devices);
  const auto nobody = [](const std::filesystem::path&) { return false; };
  EXPECT_FALSE(gpu_permission(devices, nobody));  // no GPU, no finding
  std::ofstream(devices / "nvidia0") << "a device";
  EXPECT_FALSE(gpu_permission(devices, [](const std::filesystem::path&) { return true; }));
  const auto denied = gpu_permission(devices, nobody);
  ASSERT_TRUE(denied);
  EXPECT_EQ(denied->health, Health::absent);
  EXPECT_EQ(denied->detail, "you may not open " + (devices / "nvidia0").string());
  struct stat status = {};
  ASSERT_EQ(::stat((devices / "nvidia0").c_str(), &status), 0);
  const group* owner = ::getgrgid(status.st_gid);
  ASSERT_NE(owner, nullptr);
  EXPECT_EQ(denied->fix, "join its group and log in again: sudo usermod -aG " +
                             std::string(owner->gr_name) + " $USER");
}

}  // namespace
}  // namespace holdfast::gate
