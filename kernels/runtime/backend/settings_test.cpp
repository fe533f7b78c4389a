// SPDX-License-Identifier: Apache-2.0
#include "runtime/backend/settings.hpp"

#include <gmock/gmock.h>

#include <cstdlib>
#include <string>

#include "runtime/backend/backend.hpp"
#include "runtime/base/transfer_guard.hpp"
#include "testing/error_of.hpp"

namespace holdfast {
namespace {

struct Setting {
  Setting(const char* variable, const char* value) : variable_(variable) {
    setenv(variable, value, 1);
  }
  ~Setting() { unsetenv(variable_); }
  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;

 private:
  const char* variable_;
};

std::string refusal() {
  return refusal_of([] { return open_backend("host"); });
}

TEST(Settings, WhatMeansNothingIsRefusedBeforeABackendOpens) {
  for (const auto* variable :
       {"HOLDFAST_LOG", "HOLDFAST_LOG_COMPILES", "HOLDFAST_TRANSFER_GUARD", "HOLDFAST_SOURCES"}) {
    const Setting setting(variable, "/no/such/thing");
    EXPECT_THAT(refusal(),
                testing::StartsWith(std::string(variable) + " is '/no/such/thing', which"));
  }
}

TEST(Settings, WhatMeansSomethingIsTaken) {
  const Setting log("HOLDFAST_LOG", "info"), compiles("HOLDFAST_LOG_COMPILES", "1"),
      guard("HOLDFAST_TRANSFER_GUARD", "log"), sources("HOLDFAST_SOURCES", "/");
  EXPECT_NO_THROW(check_settings());
  EXPECT_EQ(transfer_guard(), TransferGuard::log);
}

TEST(Settings, AnEmptySettingIsNone) {
  const Setting guard("HOLDFAST_TRANSFER_GUARD", ""), compiles("HOLDFAST_LOG_COMPILES", "");
  EXPECT_NO_THROW(check_settings());
  EXPECT_EQ(transfer_guard(), TransferGuard::off);
}

}  // namespace
}  // namespace holdfast
