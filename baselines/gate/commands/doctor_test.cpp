// SPDX-License-Identifier: Apache-2.0
#include "gate/commands/doctor.hpp"

#include <gtest/gtest.h>

#include "gate/base/json.hpp"

namespace holdfast::gate {
namespace {

TEST(Doctor, EachGpuIsOneSlotOfTheResourceFile) {
  const nlohmann::json json = nlohmann::json::parse(ctest_resources(2));
  EXPECT_EQ(json.at("version").at("major"), 1);
  EXPECT_EQ(json.at("local").at(0).at("gpus").at(1), (nlohmann::json{{"id", "1"}, {"slots", 1}}));
}

}  // namespace
}  // namespace holdfast::gate
