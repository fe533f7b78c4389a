// SPDX-License-Identifier: Apache-2.0
#include "base/time.hpp"

#include <re2/re2.h>

#include <ctime>
#include <random>

namespace holdfast {
namespace {

double seconds_of(clockid_t clock) {
  timespec now = {};
  (void)::clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts = {};
  ::gmtime_r(&now, &parts);
  char buffer[32];
  return {buffer, std::strftime(buffer, sizeof buffer, "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

std::string today_utc() {
  const std::string now = utc_now();
  return now.substr(0, now.find('T'));
}

std::string run_id(const std::string& utc) {
  std::random_device random;
  std::string id = utc + '-';
  for (int i = 0; i < 4; ++i) id += "0123456789abcdef"[random() % 16];
  return id;
}

bool is_day(std::string_view text) {
  static const RE2 form(R"((\d{4})-(\d\d)-(\d\d))");
  int year = 0, month = 0, day = 0;
  return RE2::FullMatch(re2::StringPiece(text.data(), text.size()), form, &year, &month, &day) &&
         (std::chrono::year(year) / month / day).ok();
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double monotonic_seconds() {
  return seconds_since({});
}

double thread_cpu_seconds() {
  return seconds_of(CLOCK_THREAD_CPUTIME_ID);
}

double process_cpu_seconds() {
  return seconds_of(CLOCK_PROCESS_CPUTIME_ID);
}

}  // namespace holdfast
