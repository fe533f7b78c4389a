// SPDX-License-Identifier: Apache-2.0
// A GPU's own records of what it ran, from CUPTI's activity interface. CUPTI is opened at run time:
// if it is missing, refuses or is in use, the trace is empty and says why.
#pragma once

#include <chrono>
#include <memory>

#include "runtime/count/device_trace.hpp"

namespace holdfast {

// Throws Error{broken_rule} while another is open: CUPTI serves one per process.
std::unique_ptr<DeviceTrace> open_cupti_trace(std::chrono::steady_clock::time_point start);

}  // namespace holdfast
