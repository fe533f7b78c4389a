// SPDX-License-Identifier: Apache-2.0
// For tests: the reference's kernels, compiled by g++ for the emulated device.
#pragma once

#include "runtime/emulation/emulated_device.hpp"

namespace holdfast::gpt_train {

void add_plain(EmulatedKernels& kernels);

}  // namespace holdfast::gpt_train
