// SPDX-License-Identifier: Apache-2.0
// Private to the workload: the bytes that either variant holds on a device.
#pragma once

#include "gpt_train/problem/problem.hpp"

namespace holdfast::gpt_train {

std::int64_t device_peak_bytes(const Problem& problem);
std::int64_t plain_device_peak_bytes(const Problem& problem);

}  // namespace holdfast::gpt_train
