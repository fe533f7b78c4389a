// SPDX-License-Identifier: Apache-2.0
#include "base/time.hpp"

#include <gtest/gtest.h>

#include <ctime>
#include <optional>
#include <regex>
#include <set>
#include <string>
#include <thread>

#include "base/testing/variable.hpp"

namespace holdfast {
namespace {

TEST(Time, IsWrittenToTheSecondInUtc) {
  EXPECT_TRUE(std::regex_match(utc_now(), std::regex(R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)")));
}

TEST(Time, IsThatOfGreenwichWhereverTheMachineStands) {
  std::optional<Variable> zone(std::in_place, "TZ", "EAST-7");  // seven hours ahead
  tzset();
  const auto hour = [] { return std::time(nullptr) / 3600 % 24; };
  std::time_t before = 0;
  std::string now;
  do {
    before = hour();
    now = utc_now();
  } while (hour() != before);
  zone.reset();
  tzset();
  EXPECT_EQ(std::stol(now.substr(now.find('T') + 1, 2)), before) << now;
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
                           "2026-11-27T", "2026/11/27", "2026- 1-01", "2026-1x-01"})
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

TEST(RunId, IsOneOfManyThousandsOfTheSameSecond) {
  std::set<std::string> ids;
  for (int i = 0; i < 64; ++i) ids.insert(run_id("2026-11-21T12:00:00Z"));
  EXPECT_GT(ids.size(), 32);
}

TEST(SecondsSince, AreSeconds) {
  const double since =
      seconds_since(std::chrono::steady_clock::now() - std::chrono::milliseconds(1500));
  EXPECT_GE(since, 1.5);
  EXPECT_LT(since, 1000);
  const double moment = monotonic_seconds();
  EXPECT_GE(monotonic_seconds(), moment);
}

TEST(CpuSeconds, OfAThreadAreItsOwnAndOfAProcessThoseOfAll) {
  const double thread = thread_cpu_seconds(), process = process_cpu_seconds();
  std::thread([] {
    while (thread_cpu_seconds() < 0.02) continue;
  }).join();
  EXPECT_LT(thread_cpu_seconds() - thread, 0.01);
  EXPECT_GE(process_cpu_seconds() - process, 0.02);
  EXPECT_LT(process_cpu_seconds() - process, 0.5);
}

}  // namespace
}  // namespace holdfast
