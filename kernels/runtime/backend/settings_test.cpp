// SPDX-License-Identifier: Apache-2.0
#include "runtime/backend/settings.hpp"

#include <gmock/gmock.h>

#include <string>

#include "base/testing/variable.hpp"
#include "runtime/backend/backend.hpp"
#include "runtime/base/transfer_guard.hpp"
#include "testing/error_of.hpp"

namespace holdfast {
namespace {

std::string refusal() {
  return refusal_of([] { return open_backend("host"); });
}

TEST(Settings, WhatMeansNothingIsRefusedBeforeABackendOpens) {
  for (const auto* variable :
       {"HOLDFAST_LOG", "HOLDFAST_LOG_COMPILES", "HOLDFAST_TRANSFER_GUARD", "HOLDFAST_SOURCES"}) {
    const Variable setting(variable, "/no/such/thing");
    EXPECT_THAT(refusal(),
                testing::StartsWith(std::string(variable) + " is '/no/such/thing', which"));
  }
}

TEST(Settings, WhatMeansSomethingIsTaken) {
  const Variable log("HOLDFAST_LOG", "info"), compiles("HOLDFAST_LOG_COMPILES", "1"),
      guard("HOLDFAST_TRANSFER_GUARD", "log"), sources("HOLDFAST_SOURCES", "/");
  EXPECT_NO_THROW(check_settings());
  EXPECT_EQ(transfer_guard(), TransferGuard::log);
}

TEST(Settings, AnEmptySettingIsNone) {
  const Variable guard("HOLDFAST_TRANSFER_GUARD", ""), compiles("HOLDFAST_LOG_COMPILES", "");
  EXPECT_NO_THROW(check_settings());
  EXPECT_EQ(transfer_guard(), TransferGuard::off);
}

}  // namespace
}  // namespace holdfast
