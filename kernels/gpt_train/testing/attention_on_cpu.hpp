// SPDX-License-Identifier: Apache-2.0
// For tests: the kernels of attention, compiled by g++ for the emulated device.
#pragma once

#include "runtime/emulation/emulated_device.hpp"

namespace holdfast::gpt_train {

void add_attention(EmulatedKernels& kernels, int head);

// The same with one wrong bit in the mask: query 70 of each row of the batch does not see the key
// before it.
void add_planted_attention(EmulatedKernels& kernels, int head);
inline constexpr int planted_query = 70, planted_key = 69;

}  // namespace holdfast::gpt_train
