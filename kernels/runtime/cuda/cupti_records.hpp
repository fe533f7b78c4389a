// SPDX-License-Identifier: Apache-2.0
// CUPTI's activity records, told as plain data.
#pragma once

#include <cupti.h>

#include "runtime/count/device_trace.hpp"

namespace holdfast {

// Adds what the record says. A kind that nobody asked for is passed over.
void add(const CUpti_Activity& record, DeviceRecords& records);

}  // namespace holdfast
