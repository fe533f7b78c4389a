// SPDX-License-Identifier: Apache-2.0
// A GPU's own account of what it ran, from CUPTI's activity interface. CUPTI is opened at run time:
// where it is missing, refuses or is another's, the trace is silent and says why.
#pragma once

#include <chrono>
#include <memory>

#include "runtime/count/device_trace.hpp"

namespace holdfast {

// Throws Error{broken_rule} while another is open: CUPTI serves one per process.
std::unique_ptr<DeviceTrace> open_cupti_trace(std::chrono::steady_clock::time_point start);

}  // namespace holdfast
