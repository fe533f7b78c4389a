// SPDX-License-Identifier: Apache-2.0
// Timestamps, the run id made from one, and elapsed seconds.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace holdfast {

std::string utc_now();    // "2026-11-21T12:00:00Z"
std::string today_utc();  // "2026-11-21"

// Whether it is a day of the calendar, "2026-11-21".
bool is_day(std::string_view text);

// "2026-11-21T12:00:00Z-7f3a": runs that begin in the same second get different ids.
std::string run_id(const std::string& utc);

// By the monotonic clock: since `start`, and since an epoch that all callers share.
double seconds_since(std::chrono::steady_clock::time_point start);
double monotonic_seconds();

// CPU time of the calling thread, or of all threads of the process; other load on the machine is
// not counted.
double thread_cpu_seconds();
double process_cpu_seconds();

}  // namespace holdfast
