// SPDX-License-Identifier: Apache-2.0
// When something was measured, the name that a run has from it, and seconds that passed.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace holdfast {

std::string utc_now();    // "2026-11-21T12:00:00Z"
std::string today_utc();  // "2026-11-21"

// Whether it is a day of the calendar, "2026-11-21".
bool is_day(std::string_view text);

// "2026-11-21T12:00:00Z-7f3a": two runs that begin in one second have two names.
std::string run_id(const std::string& utc);

// By the clock that never goes back: since `start`, and since a moment that every caller shares.
double seconds_since(std::chrono::steady_clock::time_point start);
double monotonic_seconds();

// That the calling thread, or all threads of the process, have computed: what else the machine does
// meanwhile is none of it.
double thread_cpu_seconds();
double process_cpu_seconds();

}  // namespace holdfast
