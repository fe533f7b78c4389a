// SPDX-License-Identifier: Apache-2.0
// Converts CUPTI's activity records to plain data.
#pragma once

#include <cupti.h>

#include "runtime/count/device_trace.hpp"

namespace holdfast {

// Adds the record's content. Kinds that were not requested are ignored.
void add(const CUpti_Activity& record, DeviceRecords& records);

}  // namespace holdfast
