// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/log.hpp"

#include <gmock/gmock.h>

#include <string>

#include "base/testing/variable.hpp"
#include "runtime/base/error.hpp"

namespace holdfast {
namespace {

// What the action prints with this value of HOLDFAST_LOG.
template <class Action>
std::string printed(const char* level, Action&& action) {
  const Variable log("HOLDFAST_LOG", level);
  testing::internal::CaptureStderr();
  action();
  return testing::internal::GetCapturedStderr();
}

TEST(Log, PrintsOneLineWithItsLevel) {
  EXPECT_EQ(printed("info", [] { log(LogLevel::info, "cache is off"); }),
            "holdfast: info: cache is off\n");
}

TEST(Log, KeepsQuietBelowTheLevel) {
  EXPECT_EQ(printed("error", [] { log(LogLevel::warn, "cache is off"); }), "");
}

TEST(Log, WarningsPassWhenNothingIsSet) {
  EXPECT_EQ(printed("",
                    [] {
                      log(LogLevel::warn, "seen");
                      log(LogLevel::info, "unseen");
                    }),
            "holdfast: warn: seen\n");
}

TEST(Log, ALevelThatDoesNotExistIsRefused) {
  const Variable log("HOLDFAST_LOG", "loud");
  EXPECT_THROW(check_log_settings(), Error);
}

TEST(Log, AnErrorsPlaceIsPrintedForDebugging) {
  const auto line =
      printed("debug", [] { const Error error(Fault::device, "failed to launch f"); });
  EXPECT_THAT(line, testing::ContainsRegex("holdfast: debug: .*log_test.cpp:[0-9]+: failed to"));
}

}  // namespace
}  // namespace holdfast
