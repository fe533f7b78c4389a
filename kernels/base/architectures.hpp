// SPDX-License-Identifier: Apache-2.0
// The GPU architectures that are compiled for, as in "cuda-dry:sm_90"; the run-time layer's table
// has a row for each (runtime/device/architecture.cpp).
#pragma once

namespace holdfast {

inline constexpr int architectures[] = {75, 80, 86, 89, 90, 100, 120};

// The oldest one that suites run on: kernels use matrix units that those before lack.
inline constexpr int oldest_of_suites = 80;

}  // namespace holdfast
