// SPDX-License-Identifier: Apache-2.0
// For tests: an emulated device with the kernels of one variant. Both have kernels of the same
// name, so one device cannot have them all.
#pragma once

#include <memory>

#include "computation.hpp"
#include "runtime/emulation/emulated_device.hpp"

namespace holdfast::cubed_sphere_swe {

std::unique_ptr<Backend> emulated(Variant variant, Emulation emulation = {});

}  // namespace holdfast::cubed_sphere_swe
