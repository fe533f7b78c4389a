// SPDX-License-Identifier: Apache-2.0
// The architectures of GPUs that are compiled for, as in "cuda-dry:sm_90": of each the run-time
// layer's table has a row (runtime/device/architecture.cpp).
#pragma once

namespace holdfast {

inline constexpr int architectures[] = {75, 80, 86, 89, 90, 100, 120};

}  // namespace holdfast
