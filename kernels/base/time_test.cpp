// SPDX-License-Identifier: Apache-2.0
#include "base/time.hpp"

#include <gtest/gtest.h>

#include <regex>
#include <set>
#include <thread>

namespace holdfast {
namespace {

TEST(Time, IsWrittenToTheSecondInUtc) {
  EXPECT_TRUE(std::regex_match(utc_now(), std::regex(R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)")));
}

TEST(Time, TodayIsTheDateOfNow) {
  std::string before, today;
  do {
    before = utc_now();
    today = today_utc();
  } while (utc_now().substr(0, 10) != before.substr(0, 10));
  EXPECT_EQ(today, before.substr(0, 10));
}

TEST(Day, IsOneOfTheCalendar) {
  for (const char* day : {"2026-11-27", "2024-02-29", "2026-01-01"})
    EXPECT_TRUE(is_day(day)) << day;
  for (const char* none : {"2026-02-29", "2026-11-31", "2026-13-01", "2026-00-10", "2026-1-1", "",
                           "2026-11-27T", "2026/11/27"})
    EXPECT_FALSE(is_day(none)) << none;
}

TEST(RunId, IsTheTimeAndFourHexadecimalDigits) {
  EXPECT_TRUE(std::regex_match(run_id("2026-11-21T12:00:00Z"),
                               std::regex("2026-11-21T12:00:00Z-[0-9a-f]{4}")));
}

TEST(RunId, IsAnotherForTheNextRunOfTheSameSecond) {
  std::set<std::string> ids;
  for (int i = 0; i < 8; ++i) ids.insert(run_id("2026-11-21T12:00:00Z"));
  EXPECT_GT(ids.size(), 1);
}

TEST(CpuSeconds, OfAThreadAreItsOwnAndOfAProcessThoseOfAll) {
  const double thread = thread_cpu_seconds(), process = process_cpu_seconds();
  std::thread([] {
    while (thread_cpu_seconds() < 0.02) continue;
  }).join();
  EXPECT_LT(thread_cpu_seconds() - thread, 0.01);
  EXPECT_GE(process_cpu_seconds() - process, 0.02);
}

}  // namespace
}  // namespace holdfast
