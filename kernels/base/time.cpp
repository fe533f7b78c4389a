// SPDX-License-Identifier: Apache-2.0
#include "base/time.hpp"

#include <algorithm>
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
  constexpr std::string_view form = "dddd-dd-dd";
  const bool is_formed =
      std::equal(text.begin(), text.end(), form.begin(), form.end(), [](char byte, char wanted) {
        return wanted == 'd' ? byte >= '0' && byte <= '9' : byte == wanted;
      });
  if (!is_formed) return false;
  const auto part = [&](std::size_t from, std::size_t count) {
    return std::stoi(std::string(text.substr(from, count)));
  };
  return std::chrono::year_month_day(std::chrono::year(part(0, 4)),
                                     std::chrono::month(static_cast<unsigned>(part(5, 2))),
                                     std::chrono::day(static_cast<unsigned>(part(8, 2))))
      .ok();
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
