// SPDX-License-Identifier: Apache-2.0
// For tests: the workload's kernels on an emulated device.
#pragma once

#include <memory>

#include "computation.hpp"
#include "runtime/emulation/emulated_device.hpp"

namespace holdfast::galaxy_shear {

void add_reference(EmulatedKernels& kernels);

// The optimized kernels are there for (N, S) = (16, 8), (16, 7), (64, 33) and (128, 48).
std::unique_ptr<Backend> emulated(Variant variant, Emulation emulation = {});

}  // namespace holdfast::galaxy_shear
