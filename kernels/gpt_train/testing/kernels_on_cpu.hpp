// SPDX-License-Identifier: Apache-2.0
// For tests: the device's kernels on the emulated device, for heads of 32.
#pragma once

#include <memory>

#include "runtime/emulation/emulated_device.hpp"

namespace holdfast::gpt_train {

std::unique_ptr<Backend> emulated(Emulation emulation = {});

}  // namespace holdfast::gpt_train
