// SPDX-License-Identifier: Apache-2.0
// For tests: the kernels of both variants on the emulated device.
#pragma once

#include "runtime/emulation/emulated_device.hpp"
#include "xpcs_fit/problem/problem.hpp"

namespace holdfast::xpcs_fit {

// The reference is compiled for its size, and here only for this one.
inline constexpr Size emulated_size = {3, 19};

std::unique_ptr<Backend> emulated_optimized(emulation::Order order = emulation::Order::forward,
                                            emulation::CopyLane copies = emulation::CopyLane::late);
// For one form at emulated_size: laminar or at rest with shared scaling, or laminar per angle; for
// one angle only laminar.
std::unique_ptr<Backend> emulated_reference(const Options& options,
                                            int angles = emulated_size.angles);

// Laminar and shared, for parts of emulated_size.
inline constexpr std::int64_t emulated_part = 361;
std::unique_ptr<Backend> emulated_parts();

}  // namespace holdfast::xpcs_fit
